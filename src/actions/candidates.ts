import type { z } from 'zod'
import type { Gallery, Hit } from '../gallery/gallery.ts'
import { mapInTurn } from '../lib/in-turn.ts'
import type { Tx } from '../store/tx.ts'
import type { SeenFace, View } from '../vision/view.ts'
import type { candidate, debug } from './fields.ts'

export type Candidate = z.input<typeof candidate>

/** Hits as they are told, with names as they are now; whoever was deleted meanwhile is none. */
export async function candidatesOf(
  gallery: Gallery,
  tx: Tx,
  galleryId: string,
  hits: readonly Hit[],
): Promise<Candidate[]> {
  const rows = await mapInTurn(hits, ({ subjectId }) => gallery.find(tx, galleryId, { subjectId }))
  const found = rows.filter((row) => row !== undefined)
  const subjects = new Map((await gallery.describe(tx, found)).map((one) => [one.subjectId, one]))
  return hits.flatMap(({ subjectId, faceId, similarity }) => {
    const subject = subjects.get(subjectId)
    if (!subject) return []
    const { externalId, displayName, groups } = subject
    const matchLevel = gallery.levelOf(similarity)
    return [{ subjectId, externalId, displayName, similarity, matchLevel, faceId, groups }]
  })
}

export type DebugFacts = {
  readonly scores?: Readonly<Record<string, number>>
  readonly searchMs?: number
  readonly below?: Candidate[]
  /** Models that took part in the comparison. */
  readonly modelIds?: readonly string[]
}

/** How an answer came about, for callers that ask; never a template. */
export function debugOf(
  isAsked: boolean,
  view: View,
  face: SeenFace | undefined,
  { scores, searchMs, below, modelIds = [] }: DebugFacts = {},
): { readonly debug?: z.input<typeof debug> } {
  if (!isAsked) return {}
  const former = modelIds.filter((modelId) => modelId !== face?.template?.modelId)
  const formerRecognizer = former.length > 0 && { formerRecognizer: former.join('+') }
  return {
    debug: {
      providers: { ...view.providers, ...formerRecognizer },
      scores: { ...(face && faceScores(face)), ...scores },
      timingsMs: { ...view.timingsMs, ...(searchMs !== undefined && { search: searchMs }) },
      ...(below && { candidatesBelowThreshold: below }),
    },
  }
}

/** The detector's and, where liveness was looked at, that of all its networks and each one's. */
function faceScores({ confidence, liveness }: SeenFace): Record<string, number> {
  return {
    detector: confidence,
    ...(liveness && { liveness: liveness.score, ...liveness.networks }),
  }
}
