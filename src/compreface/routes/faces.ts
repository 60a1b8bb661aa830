import { z } from 'zod'
import { subjectNotFound } from '../../actions/parts/action-errors.ts'
import { externalId, uuid } from '../../actions/schemas/fields.ts'
import { ActionError } from '../../lib/errors.ts'
import { mapSequential } from '../../lib/account-context.ts'
import type { Tx } from '../../store/database.ts'
import {
  pageQuery,
  readExactQuery,
  readImageId,
  readQuery,
  refuseParameters,
} from '../input/query.ts'
import { defineJsonRoute } from '../json-route.ts'
import type { CallContext } from '../serve-route.ts'
import { changeSubjects, deleteAllPermissions, deleteAllSubjects } from './change-subjects.ts'
import { findSubjectByName, subjectName } from './subject-name.ts'

/** Returns a page of the faces of the gallery or of one subject. */
export const listFaces = defineJsonRoute({
  method: 'GET',
  path: '/api/v1/recognition/faces',
  permissions: ['subjects:read'],
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

/** Deletes one face. Deleting the last face of a subject deletes the subject. */
export const deleteFace = defineJsonRoute({
  method: 'DELETE',
  path: '/api/v1/recognition/faces/:image_id',
  permissions: ['svc.deleteSubject'],
  run: (call) => {
    const faceId = readImageId(call)
    return changeSubjects(
      call,
      async (tx) => (await removeFace(tx, call, faceId)) ?? subjectNotFound(),
    )
  },
})

const facesMax = 200

/** Deletes faces by id. The response omits ids that do not exist. */
export const deleteFaceList = defineJsonRoute({
  method: 'POST',
  path: '/api/v1/recognition/faces/delete',
  permissions: ['svc.deleteSubject'],
  query: refuseParameters,
  body: z.array(uuid).min(1).max(facesMax),
  run: (call) =>
    changeSubjects(call, async (tx) => {
      const removed = await mapSequential(call.body, (faceId) => removeFace(tx, call, faceId))
      return removed.filter((face) => face !== undefined)
    }),
})

/** Deletes a subject with all its faces; without the parameter, all subjects. */
export const deleteFaces = defineJsonRoute({
  method: 'DELETE',
  path: '/api/v1/recognition/faces',
  permissions: (name) => (name === undefined ? deleteAllPermissions : ['svc.deleteSubject']),
  query: optionalSubject,
  run: async (call) => {
    const { query: name, caller, services } = call
    if (name === undefined)
      return deleteAllSubjects(call, (records) =>
        records.reduce((sum, { embeddingCount }) => sum + embeddingCount, 0),
      )
    return changeSubjects(call, async (tx) => {
      const subject = await findSubjectByName(services, tx, caller, name)
      return { deleted: subject ? (await services.subjects.remove(tx, subject)).embeddingCount : 0 }
    })
  },
})

/** An empty name is probably a mistake, so it is rejected instead of deleting all subjects. */
function optionalSubject(query: URLSearchParams): string | undefined {
  if (query.get('subject')?.trim() === '')
    throw new ActionError(
      'INVALID_REQUEST',
      'query.subject: must not be empty; omit it to delete all subjects',
    )
  return readExactQuery(z.strictObject({ subject: externalId.optional() }), query).subject
}

async function removeFace(
  tx: Tx,
  { caller: { galleryId }, services: { subjects } }: CallContext,
  faceId: string,
) {
  const [face] = await subjects.listFaces(tx, { galleryId, faceId, limit: 1 })
  const subject = face && (await subjects.find(tx, galleryId, face))
  if (!subject) return undefined
  const { subjectId } = subject
  const isLast = (await subjects.listFaces(tx, { galleryId, subjectId, limit: 2 })).length === 1
  if (isLast) await subjects.remove(tx, subject)
  else await subjects.update(tx, subject, { removeFaceIds: [faceId] })
  return { image_id: face.faceId, subject: subjectName(subject) }
}
