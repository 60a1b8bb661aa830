import { HttpError } from '../../lib/errors.ts'
import { defineJsonRoute } from '../json-route.ts'
import { pageQuery, readQuery } from '../input/query.ts'
import { findSubjectByName, subjectName } from './subject-name.ts'

/** A page of the faces of the gallery, or of one subject. */
export const listFaces = defineJsonRoute({
  method: 'GET',
  path: '/api/v1/recognition/faces',
  permissions: ['subjects:read'],
  query: (query) => readQuery(pageQuery, query),
  run: async ({ query: { page, size, subject }, caller, services: { gallery } }) => {
    const { galleryId } = caller
    const body = await gallery.read(async (reading) => {
      const named =
        subject === undefined
          ? undefined
          : await findSubjectByName({ gallery }, reading, caller, subject)
      const isNobody = subject !== undefined && !named
      const filter = { galleryId, subjectId: named?.subjectId, offset: page * size, limit: size }
      const faces = isNobody ? [] : await gallery.listFaces(reading, filter)
      const ofSubject = named
        ? (await gallery.loadSubjectDetails(reading, [named]))[0]?.embeddingCount
        : 0
      const total =
        subject === undefined
          ? (await gallery.size(reading, galleryId)).templateCount
          : (ofSubject ?? 0)
      return {
        faces: faces.map((one) => ({ image_id: one.faceId, subject: subjectName(one) })),
        page_number: page,
        page_size: size,
        total_pages: Math.ceil(total / size),
        total_elements: total,
      }
    })
    return { outcome: { body } }
  },
})

/** CompreFace shows the picture that a face was made of; there is none. */
export const showFace = defineJsonRoute({
  method: 'GET',
  path: '/api/v1/recognition/faces/:image_id/img',
  permissions: ['subjects:read'],
  query: () => undefined,
  run: () => {
    throw new HttpError(404, 'Facegate does not keep pictures of faces: there is none to show.')
  },
})
