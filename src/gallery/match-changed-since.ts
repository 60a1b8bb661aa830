import {
  findFaceChanges,
  afterAllFaceIds,
  type FaceChange,
  type FaceChangeCursor,
} from '../store/gallery/faces.ts'
import type { ReadTx } from '../store/tx.ts'
import type { Template } from '../vision/embed/template.ts'
import { matchStoredTemplate, type MatchOptions } from './match.ts'
import { selectTemplate } from './select-template.ts'
import { hasExpired } from './unexpired-subjects.ts'
import type { SearchHit } from './search/search-across-models.ts'

/** The changes that are read at once. Deleting a group or re-embedding a gallery makes many more. */
const changesPerPage = 2_000

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
  const bestHits = new Map<string, SearchHit>()
  for await (const face of facesChangedSince(reading, galleryId, sequence)) {
    const stored = selectTemplate(face.templates, options.calibrations)
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

/** Yields all changed faces that still exist. */
async function* facesChangedSince(
  reading: ReadTx,
  galleryId: string,
  sequence: number,
): AsyncGenerator<NonNullable<FaceChange['face']>> {
  let cursor: FaceChangeCursor = { sequence, faceId: afterAllFaceIds }
  for (let isLast = false; !isLast;) {
    const changes = await findFaceChanges(reading, galleryId, cursor, changesPerPage)
    for (const { face } of changes) if (face) yield face
    cursor = changes.at(-1) ?? cursor
    isLast = changes.length < changesPerPage
  }
}
