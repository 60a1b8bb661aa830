import { parameter, subjectParameter } from '../description/route-description.ts'
import { pageQuery, readQuery } from '../input/query.ts'
import { defineJsonRoute } from '../json-route.ts'
import { findSubjectByName, subjectName } from './subject-name.ts'

/** Returns a page of the faces of the gallery or of one subject. */
export const listFaces = defineJsonRoute({
  method: 'GET',
  path: '/api/v1/recognition/faces',
  permissions: ['subjects:read'],
  description: {
    operationId: 'compreFaceListFaces',
    summary: 'List faces',
    query: [
      parameter('page', { type: 'integer', minimum: 0 }, 'From 0. Default: 0.'),
      parameter('size', { type: 'integer', minimum: 1, maximum: 1000 }, 'Default: 20.'),
      subjectParameter(false),
    ],
    response: 'ExamplePage',
  },
  query: (query) => readQuery(pageQuery, query),
  run: async ({ query: { page, size, subject: name }, caller, services: { subjects } }) => {
    const { galleryId } = caller
    const body = await subjects.read(async (reading) => {
      const subject =
        name === undefined
          ? undefined
          : await findSubjectByName({ subjects }, reading, caller, name)
      const isUnknown = name !== undefined && !subject
      const filter = { galleryId, subjectId: subject?.subjectId, offset: page * size, limit: size }
      const faces = isUnknown ? [] : await subjects.listFaces(reading, filter)
      const subjectTotal = subject
        ? (await subjects.loadDetails(reading, [subject]))[0]?.embeddingCount
        : 0
      const total =
        name === undefined
          ? (await subjects.size(reading, galleryId)).templateCount
          : (subjectTotal ?? 0)
      return {
        faces: faces.map((face) => ({ image_id: face.faceId, subject: subjectName(face) })),
        page_number: page,
        page_size: size,
        total_pages: Math.ceil(total / size),
        total_elements: total,
      }
    })
    return { outcome: { body } }
  },
})
