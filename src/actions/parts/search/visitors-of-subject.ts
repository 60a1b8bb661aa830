import { z } from 'zod'
import type { Tx } from '../../../store/database.ts'
import { similarity } from '../../schemas/fields.ts'
import {
  type ComparedPicture,
  type GalleryCall,
  searchDuplicates,
} from '../pictures/find-duplicates.ts'
import type { StoreFaceCall } from '../store-face.ts'
import { type StoredSearchCall, readStoredProbe } from './identify-stored.ts'
import texts from '../../schemas/field-texts.json' with { type: 'json' }

/** The visitors that svc.enroll returns. */
export const similarVisitors = z
  .array(z.object({ visitorId: z.uuid(), similarity }))
  .optional()
  .describe(texts.visitorsOfSubject.similarVisitors)

/**
 * Searches for visitors that resemble one of the pictures, as `searchDuplicates` searches for subjects:
 * their similarity reaches the threshold of a search in a gallery with as many subjects.
 */
async function searchSimilarVisitors(
  { caller, services }: GalleryCall,
  pictures: readonly ComparedPicture[],
) {
  const { subjects, matching, visitors } = services
  const galleryId = visitors.galleryIdOf(caller.galleryId)
  const request = { galleryId, projectId: caller.projectId, requested: 'auto' } as const
  const { threshold } = await subjects.read((reading) => matching.searchThreshold(reading, request))
  const search = { pictures, similarityMin: threshold, excludeSubjectId: undefined }
  return searchDuplicates({ caller: { ...caller, galleryId }, services }, search)
}

/** The same for the pictures of an enrollment; undefined if the project stores no unknown people. */
export async function searchVisitorsOfPictures(
  call: StoreFaceCall,
  pictures: readonly ComparedPicture[],
) {
  const { caller, services } = call
  if (!caller.switches.unknownPeople) return async () => undefined
  const find = await searchSimilarVisitors(call, pictures)
  return async (tx: Tx, stored: readonly ComparedPicture[]) => {
    await services.subjects.lock(tx, services.visitors.galleryIdOf(caller.galleryId), 'shared')
    const found = await find(tx, stored)
    return found.map((visitor) => ({ ...visitor, visitorId: visitor.subjectId }))
  }
}

/**
 * Finds the visitors that resemble a subject, the most similar first.
 *
 * @throws ActionError SUBJECT_NOT_FOUND, or MODEL_MISMATCH if the subject has no template of a loaded
 *   model.
 */
export async function findVisitorsOfSubject(call: StoredSearchCall) {
  const { subjects, visitors } = call.services
  const { templates: probes } = await readStoredProbe(call)
  const pictures = [{ index: 0, probe: { probes } }]
  const find = await searchSimilarVisitors(call, pictures)
  return subjects.read(async (reading) => {
    const found = await find(reading, pictures)
    const galleryId = visitors.galleryIdOf(call.caller.galleryId)
    const ids = found.map(({ subjectId }) => subjectId)
    const rows = await visitors.findByIds(reading, galleryId, ids)
    const details = await visitors.loadDetails(reading, rows)
    return found.flatMap(({ subjectId, similarity }) => {
      const visitor = details.find(({ visitorId }) => visitorId === subjectId)
      return visitor ? [{ ...visitor, similarity }] : []
    })
  })
}
