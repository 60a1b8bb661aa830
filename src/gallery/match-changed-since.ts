import { findFaceChanges, afterAllFaceIds } from '../store/gallery/faces.ts'
import type { ReadTx } from '../store/tx.ts'
import type { Template } from '../vision/embed/template.ts'
import { matchStoredTemplate, type MatchOptions } from './match.ts'
import { selectTemplate } from './select-template.ts'
import { hasExpired } from './unexpired-subjects.ts'
import type { SearchHit } from './search/search-across-models.ts'

/** More changes than calls can commit between a search and the end of its call. */
const changesMax = 2_000

export type ChangedSinceQuery = {
  readonly galleryId: string
  /** Number of the gallery's last change that the search included. */
  readonly sequence: number
  readonly probes: readonly Template[]
}

/**
 * Matches the probe with all faces that have changed since a search. Returns the best hit for each
 * subject. Together with the search, and in the transaction that uses both results, no committed face
 * is missed.
 */
export async function matchChangedSince(
  reading: ReadTx,
  { galleryId, sequence, probes }: ChangedSinceQuery,
  options: MatchOptions & { readonly nowUtc: string },
): Promise<SearchHit[]> {
  const cursor = { sequence, faceId: afterAllFaceIds }
  const bestHits = new Map<string, SearchHit>()
  for (const { face } of await findFaceChanges(reading, galleryId, cursor, changesMax)) {
    const stored = face && selectTemplate(face.templates, options.calibrations)
    if (!stored || hasExpired(stored, options.nowUtc)) continue
    const { subjectId } = stored
    for (const match of await matchStoredTemplate(reading, stored, probes, options)) {
      const best = bestHits.get(subjectId)
      if (!best || match.similarity > best.similarity)
        bestHits.set(subjectId, { ...match, subjectId })
    }
  }
  return [...bestHits.values()]
}
