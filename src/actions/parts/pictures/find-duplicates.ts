import type { ChangedSinceQuery, SearchHit } from '../../../gallery/match.ts'
import type { Matching } from '../../../gallery/matching.ts'
import { ActionError } from '../../../lib/errors.ts'
import type { ReadTx } from '../../../store/database.ts'
import type { ProbeFace } from '../extract-probes.ts'
import type { Caller, Services } from '../../action.ts'
import type { ExtractedPicture } from './extract-pictures.ts'

/** The most duplicates in a response. */
const duplicatesMax = 10

/** A picture, or a stored face, with the templates of its face. */
export type ComparedPicture = Pick<ExtractedPicture, 'index'> & {
  readonly probe: Pick<ProbeFace, 'probes'>
}

/** What a comparison of faces with the subjects of a gallery needs. */
export type GalleryCall = {
  readonly caller: Pick<Caller, 'galleryId' | 'projectId'>
  readonly services: Pick<Services, 'subjects' | 'matching' | 'visitors'>
}

type DuplicateSearch = {
  readonly pictures: readonly ComparedPicture[]
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
  call: GalleryCall,
  { pictures, similarityMin, excludeSubjectId }: DuplicateSearch,
) {
  const { subjects, matching } = call.services
  const { galleryId } = call.caller
  const sequence = await subjects.read((reading) => matching.sequence(reading, galleryId))
  const options = { limit: duplicatesMax, excludeSubjectId }
  const search = ({ probe }: ComparedPicture) => matching.search(galleryId, probe.probes, options)
  const searches = pictures.map(async (one) => [one.index, await search(one)] as const)
  const hitsOf = new Map(await Promise.all(searches))
  return async (reading: ReadTx, stored: readonly ComparedPicture[]) => {
    const since = { galleryId, sequence, faces: stored.map(({ probe }) => probe.probes) }
    const hits = stored.map(({ index }) => hitsOf.get(index) ?? [])
    const found = (await currentHits(matching, reading, { since, hits })).flat()
    const similar = found
      .filter((hit) => hit.subjectId !== excludeSubjectId && hit.similarity >= similarityMin)
      .toSorted((a, b) => b.similarity - a.similarity)
    const bySubject = Map.groupBy(similar, ({ subjectId }) => subjectId)
    const duplicates = [...bySubject.values()]
      .flatMap(([best]) => best ?? [])
      .slice(0, duplicatesMax)
    return withExternalIds(call, reading, duplicates)
  }
}

type FormerHits = {
  readonly since: ChangedSinceQuery
  /** The hits of each face. */
  readonly hits: readonly (readonly SearchHit[])[]
}

/**
 * Replaces the hits of subjects that have changed since a search. Each changed subject is decrypted
 * once for all faces, because no other call runs meanwhile on SQLite.
 */
export async function currentHits(
  { matchChangedSince }: Pick<Matching, 'matchChangedSince'>,
  reading: ReadTx,
  { since, hits }: FormerHits,
): Promise<readonly (readonly SearchHit[])[]> {
  const changed = await matchChangedSince(reading, since)
  return changed.map((ofFace, index) => {
    const changedIds = new Set(ofFace.map(({ subjectId }) => subjectId))
    return [...ofFace, ...(hits[index] ?? []).filter(({ subjectId }) => !changedIds.has(subjectId))]
  })
}

/** Returns the hits with their external ids, without subjects that were deleted since the search. */
async function withExternalIds(
  { caller: { galleryId }, services: { subjects } }: GalleryCall,
  reading: ReadTx,
  hits: readonly SearchHit[],
) {
  const subjectIds = hits.map(({ subjectId }) => subjectId)
  const rows = await subjects.findByIds(reading, galleryId, subjectIds)
  return hits.flatMap(({ subjectId, similarity }) => {
    const row = rows.find((one) => one.subjectId === subjectId)
    return row ? [{ subjectId, externalId: row.externalId, similarity }] : []
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
