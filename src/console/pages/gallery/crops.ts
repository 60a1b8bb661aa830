import { z } from 'zod'
import { HttpError } from '../../../lib/errors.ts'
import { isUuid } from '../../../lib/ids.ts'
import { findCroppedFaces } from '../../../store/gallery/crops.ts'
import { defineFile, defineRead } from '../../server/console-route.ts'
import { requireProject } from '../../server/input.ts'
import { subjectIdQuery } from './bulk-changes.ts'
import { requireSubject } from './subjects.ts'

/** Returns the faces of subjects that have a stored crop, the best picture of each subject first. */
export const listCroppedFaces = defineRead({
  path: '/projects/:projectId/cropped-faces',
  query: z.strictObject({ subjectIds: subjectIdQuery }),
  response: z.object({
    items: z.array(z.object({ subjectId: z.string(), faceId: z.string() })),
  }),
  handle: async (call) => {
    const { store, subjects } = call.services
    return store.read(async (tx) => {
      const { galleryId } = await requireProject(tx, call)
      const found = await subjects.findByIds(tx, galleryId, call.query.subjectIds)
      const subjectIds = found.map(({ subjectId }) => subjectId)
      return { items: await findCroppedFaces(tx, subjectIds) }
    })
  },
})

/** Returns the stored crop of a face as a JPEG. */
export const getCrop = defineFile({
  path: '/projects/:projectId/subjects/:subjectId/faces/:faceId/crop',
  readFile: async (call) => {
    const { store, subjects } = call.services
    const { faceId = '' } = call.pathParameters
    const bytes = await store.read(async (tx) => {
      const subject = await requireSubject(tx, call)
      return isUuid(faceId) ? subjects.readCrop(tx, subject, faceId.toLowerCase()) : undefined
    })
    if (!bytes) throw new HttpError(404, 'No crop of this face is stored.')
    return { contentType: 'image/jpeg', bytes }
  },
})
