import type { z } from 'zod'
import type { SearchHit } from '../../../gallery/match.ts'
import type { SubjectDetails, Subjects } from '../../../gallery/subjects.ts'
import type { Tx } from '../../../store/tx.ts'
import type { ValueMatch } from '../../action.ts'
import type { candidate, matchLevel } from '../../schemas/fields.ts'

export type MatchCandidate = z.input<typeof candidate>

/** The subjects of search hits, by id. A subject that was deleted since the search is missing. */
export type HitSubjects = ReadonlyMap<string, SubjectDetails>

/** Subjects per statement: a batch of images can have 20,000 hits. */
const subjectsPerQuery = 500

/** Loads the subjects of all hits of a call, with few statements. */
export async function loadHitSubjects(
  { findByIds, loadDetails }: Pick<Subjects, 'findByIds' | 'loadDetails'>,
  tx: Tx,
  galleryId: string,
  hits: readonly SearchHit[],
): Promise<HitSubjects> {
  const subjectIds = [...new Set(hits.map(({ subjectId }) => subjectId))]
  const found = new Map<string, SubjectDetails>()
  for (let index = 0; index < subjectIds.length; index += subjectsPerQuery) {
    const ids = subjectIds.slice(index, index + subjectsPerQuery)
    const rows = await findByIds(tx, galleryId, ids)
    for (const details of await loadDetails(tx, rows)) found.set(details.subjectId, details)
  }
  return found
}

/** Returns hits as candidates, in their order, with the names and groups of the loaded subjects. */
export function toCandidates(subjects: HitSubjects, hits: readonly SearchHit[]): MatchCandidate[] {
  return hits.flatMap(({ subjectId, faceId, similarity }) => {
    const subject = subjects.get(subjectId)
    if (!subject) return []
    const { externalId, displayName, groups } = subject
    const level = matchLevelOf(similarity)
    return [{ subjectId, externalId, displayName, similarity, matchLevel: level, faceId, groups }]
  })
}

/** Each level begins at a similarity of the scale in gallery/calibration/similarity.ts. */
export function matchLevelOf(similarity: number): z.output<typeof matchLevel> {
  if (similarity < 0.7) return 'none'
  if (similarity < 0.8) return 'low'
  if (similarity < 0.9) return 'medium'
  return similarity < 0.95 ? 'high' : 'veryHigh'
}

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

/** Candidates below the threshold in `debug`. */
export const debugCandidatesMax = 5

export type ThresholdSplit = { readonly above: MatchCandidate[]; readonly below: MatchCandidate[] }

/** Separates the matches from the nearest candidates below the threshold. */
export function splitAtThreshold(
  threshold: number,
  candidates: readonly MatchCandidate[],
): ThresholdSplit {
  const isAbove = ({ similarity }: MatchCandidate): boolean => similarity >= threshold
  return {
    above: candidates.filter(isAbove),
    below: candidates.filter((one) => !isAbove(one)).slice(0, debugCandidatesMax),
  }
}
