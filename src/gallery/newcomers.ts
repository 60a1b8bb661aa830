import { changesAfter, pastAllFaces } from '../store/faces.ts'
import type { Reading } from '../store/tx.ts'
import type { Template } from '../vision/view.ts'
import { likenessToStored, type Comparing } from './compare.ts'
import { preferredTemplate } from './preferred.ts'
import type { Hit } from './search-models.ts'

/** More changes than calls can commit between a search and the end of its call. */
const changesMax = 2_000

export type Since = {
  readonly galleryId: string
  /** The gallery's change that a search has seen for certain. */
  readonly sequence: number
  readonly probes: readonly Template[]
}

/**
 * What a search has missed because it was committed after it: how alike the faces that have changed
 * since are, each subject once. Asked within the transaction that acts on it, nothing escapes.
 */
export async function newcomersSince(
  reading: Reading,
  { galleryId, sequence, probes }: Since,
  comparing: Comparing,
): Promise<Hit[]> {
  const place = { sequence, faceId: pastAllFaces }
  const best = new Map<string, Hit>()
  for (const { face } of await changesAfter(reading, galleryId, place, changesMax)) {
    const stored = face && preferredTemplate(face.templates, comparing.calibrations)
    if (!stored) continue
    const { subjectId } = stored
    for (const likeness of await likenessToStored(reading, stored, probes, comparing)) {
      const rival = best.get(subjectId)
      if (!rival || likeness.similarity > rival.similarity)
        best.set(subjectId, { ...likeness, subjectId })
    }
  }
  return [...best.values()]
}
