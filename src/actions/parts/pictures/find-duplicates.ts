import type { SearchHit } from '../../../gallery/match.ts'
import { ActionError } from '../../../lib/errors.ts'
import type { Tx } from '../../../store/database.ts'
import type { StoreFaceCall } from '../store-face.ts'
import type { ExtractedPicture } from './extract-pictures.ts'

/** The most duplicates in a response. */
const duplicatesMax = 10

type DuplicateSearch = {
  readonly pictures: readonly ExtractedPicture[]
  readonly similarityMin: number
  readonly excludeSubjectId: string | undefined
}

/**
 * Searches for other subjects with a face similar to one of the pictures.
 *
 * @returns a function that completes the search when the call is settled, for the pictures that are
 *   stored: it also compares subjects that changed since the search. Of two concurrent enrollments of
 *   one face, one finds the other. Each subject is returned once, with its highest similarity.
 */
export async function searchDuplicates(
  call: StoreFaceCall,
  { pictures, similarityMin, excludeSubjectId }: DuplicateSearch,
) {
  const { subjects, matching } = call.services
  const { galleryId } = call.caller
  const sequence = await subjects.read((reading) => matching.sequence(reading, galleryId))
  const options = { limit: duplicatesMax, excludeSubjectId }
  const searches = await Promise.all(
    pictures.map(async ({ index, probe }) => {
      return { index, hits: await matching.search(galleryId, probe.probes, options) }
    }),
  )
  return async (tx: Tx, stored: readonly ExtractedPicture[]) => {
    const best = new Map<string, SearchHit>()
    for (const { index, probe } of stored) {
      const changed = await matching.matchChangedSince(tx, {
        galleryId,
        sequence,
        probes: probe.probes,
      })
      const changedIds = new Set(changed.map(({ subjectId }) => subjectId))
      const hits = searches.find((search) => search.index === index)?.hits ?? []
      const current = hits.filter(({ subjectId }) => !changedIds.has(subjectId))
      for (const hit of [...changed, ...current]) {
        const known = best.get(hit.subjectId)
        if (!known || hit.similarity > known.similarity) best.set(hit.subjectId, hit)
      }
    }
    const duplicates = [...best.values()]
      .filter(({ subjectId }) => subjectId !== excludeSubjectId)
      .filter(({ similarity }) => similarity >= similarityMin)
      .toSorted((a, b) => b.similarity - a.similarity)
      .slice(0, duplicatesMax)
    return withExternalIds(call, tx, duplicates)
  }
}

/** Returns the hits with their external ids, without subjects that were deleted since the search. */
async function withExternalIds(
  { caller: { galleryId }, services: { subjects } }: StoreFaceCall,
  tx: Tx,
  hits: readonly SearchHit[],
) {
  const subjectIds = hits.map(({ subjectId }) => subjectId)
  const rows = await subjects.findByIds(tx, galleryId, subjectIds)
  const externalIds = new Map(rows.map((row) => [row.subjectId, row.externalId]))
  return hits.flatMap(({ subjectId, similarity }) => {
    const externalId = externalIds.get(subjectId)
    return externalId === undefined ? [] : [{ subjectId, externalId, similarity }]
  })
}

/** @throws ActionError DUPLICATE_SUBJECT. */
export function requireNoDuplicates(duplicates: readonly { readonly subjectId: string }[]): void {
  const ids = duplicates.map(({ subjectId }) => subjectId)
  const [subjectId] = ids
  if (subjectId === undefined) return
  throw new ActionError('DUPLICATE_SUBJECT', `the face is already enrolled as ${ids.join(', ')}`, {
    subjectId,
  })
}
