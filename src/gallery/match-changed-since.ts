import { findFaceChanges, afterAllFaceIds } from '../store/gallery/faces.ts'
import type { ReadTx } from '../store/tx.ts'
import type { Template } from '../vision/image-analysis.ts'
import { matchStoredTemplate, type MatchOptions } from './match.ts'
import { selectTemplate } from './select-template.ts'
import type { SearchHit } from './search/search-across-models.ts'

/** More changes than calls can commit between a search and the end of its call. */
const changesMax = 2_000

export type ChangedSinceQuery = {
  readonly galleryId: string
  /** The gallery's change that a search has seen for certain. */
  readonly sequence: number
  readonly probes: readonly Template[]
}

/**
 * What a search has missed because it was committed after it: how alike the faces that have changed
 * since are, each subject once. Asked within the transaction that acts on it, nothing escapes.
 */
export async function matchChangedSince(
  reading: ReadTx,
  { galleryId, sequence, probes }: ChangedSinceQuery,
  comparing: MatchOptions,
): Promise<SearchHit[]> {
  const place = { sequence, faceId: afterAllFaceIds }
  const best = new Map<string, SearchHit>()
  for (const { face } of await findFaceChanges(reading, galleryId, place, changesMax)) {
    const stored = face && selectTemplate(face.templates, comparing.calibrations)
    if (!stored) continue
    const { subjectId } = stored
    for (const likeness of await matchStoredTemplate(reading, stored, probes, comparing)) {
      const rival = best.get(subjectId)
      if (!rival || likeness.similarity > rival.similarity)
        best.set(subjectId, { ...likeness, subjectId })
    }
  }
  return [...best.values()]
}
