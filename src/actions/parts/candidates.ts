import type { z } from 'zod'
import type { Gallery } from '../../gallery/gallery.ts'
import type { SearchHit } from '../../gallery/search/search-across-models.ts'
import { mapSequential } from '../../lib/map-sequential.ts'
import type { Tx } from '../../store/tx.ts'
import type { FaceResult, ImageAnalysis } from '../../vision/image-analysis.ts'
import type { candidate, debug } from '../schemas/fields.ts'

export type MatchCandidate = z.input<typeof candidate>

/** Hits as they are told, with names as they are now; whoever was deleted meanwhile is none. */
export async function toCandidates(
  gallery: Gallery,
  tx: Tx,
  galleryId: string,
  hits: readonly SearchHit[],
): Promise<MatchCandidate[]> {
  const rows = await mapSequential(hits, ({ subjectId }) =>
    gallery.find(tx, galleryId, { subjectId }),
  )
  const found = rows.filter((row) => row !== undefined)
  const subjects = new Map(
    (await gallery.loadSubjectDetails(tx, found)).map((one) => [one.subjectId, one]),
  )
  return hits.flatMap(({ subjectId, faceId, similarity }) => {
    const subject = subjects.get(subjectId)
    if (!subject) return []
    const { externalId, displayName, groups } = subject
    const matchLevel = gallery.matchLevelOf(similarity)
    return [{ subjectId, externalId, displayName, similarity, matchLevel, faceId, groups }]
  })
}

export type DebugInput = {
  readonly scores?: Readonly<Record<string, number>>
  readonly searchMs?: number
  readonly candidatesBelowThreshold?: MatchCandidate[]
  /** Models that took part in the comparison. */
  readonly modelIds?: readonly string[]
}

/** How an answer came about, for callers that ask; never a template. */
export function debugInfo(
  isAsked: boolean,
  view: ImageAnalysis,
  face: FaceResult | undefined,
  { scores, searchMs, candidatesBelowThreshold: below, modelIds = [] }: DebugInput = {},
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
function faceScores({ confidence, liveness }: FaceResult): Record<string, number> {
  return {
    detector: confidence,
    ...(liveness && { liveness: liveness.score, ...liveness.networks }),
  }
}
