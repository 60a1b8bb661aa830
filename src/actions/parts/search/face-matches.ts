import type { ValueMatch } from '../../action.ts'
import type { MatchCandidate } from './candidates.ts'

type IdentifiedFaces = {
  readonly threshold: number
  readonly faces: readonly {
    readonly faceIndex: number
    readonly candidates: readonly MatchCandidate[]
  }[]
}

/** Returns the best match of each face that has one. */
export function faceMatches({ faces, threshold }: IdentifiedFaces): ValueMatch[] {
  return faces.flatMap(({ faceIndex, candidates: [best] }) => {
    if (!best) return []
    const { subjectId, externalId, faceId, similarity } = best
    return [{ faceIndex, subjectId, externalId, faceId, similarity, threshold }]
  })
}
