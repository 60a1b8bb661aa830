import { z } from 'zod'
import { HttpError } from '../../../lib/errors.ts'
import { isUuid } from '../../../lib/ids.ts'
import type { ReadTx } from '../../../store/database.ts'
import { findCroppedFaces } from '../../../store/gallery/crops.ts'
import { type ConsoleContext, defineFile, defineRead } from '../../server/console-route.ts'
import { requireProject } from '../../server/input.ts'
import { subjectIdQuery } from './bulk-changes.ts'

/**
 * Returns the faces of subjects and visitors that have a stored crop, the best picture of each one
 * first.
 */
export const listCroppedFaces = defineRead('/projects/:projectId/cropped-faces', {
  query: z.strictObject({ subjectIds: subjectIdQuery }),
  response: z.object({
    items: z.array(z.object({ subjectId: z.string(), faceId: z.string() })),
  }),
  handle: async (call) =>
    call.services.store.read(async (tx) => {
      const found = await findPeople(tx, call, call.query.subjectIds)
      const subjectIds = found.map(({ subjectId }) => subjectId)
      return { items: await findCroppedFaces(tx, subjectIds) }
    }),
})

/** Returns the stored crop of a face of a subject or a visitor as a JPEG. */
export const getCrop = defineFile(
  '/projects/:projectId/subjects/:subjectId/faces/:faceId/crop',
  async (call) => {
    const { store, subjects } = call.services
    const { subjectId = '', faceId = '' } = call.pathParameters
    const bytes = await store.read(async (tx) => {
      const [person] = await findPeople(tx, call, [subjectId.toLowerCase()])
      return person && isUuid(faceId)
        ? subjects.readCrop(tx, person, faceId.toLowerCase())
        : undefined
    })
    if (!bytes) throw new HttpError(404, 'No crop of this face is stored.')
    return { contentType: 'image/jpeg', bytes }
  },
)

/** Finds subjects, and visitors, of the project in the path. */
async function findPeople(tx: ReadTx, call: ConsoleContext, ids: readonly string[]) {
  const { subjects, visitors } = call.services
  const { galleryId } = await requireProject(tx, call)
  const ofGallery = await subjects.findByIds(tx, galleryId, ids)
  return [...ofGallery, ...(await visitors.findByIds(tx, visitors.galleryIdOf(galleryId), ids))]
}
