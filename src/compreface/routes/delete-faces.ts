import { z } from 'zod'
import type { Caller } from '../../actions/action.ts'
import { subjectNotFound } from '../../actions/parts/action-errors.ts'
import type { Subjects } from '../../gallery/subjects.ts'
import { ActionError } from '../../lib/errors.ts'
import { isUuid } from '../../lib/ids.ts'
import type { Tx } from '../../store/tx.ts'
import { readQuery, subjectQuery } from '../input/query.ts'
import { defineJsonRoute } from '../json-route.ts'
import { deleteAllSubjects, deleteAllPermissions } from './delete-all-subjects.ts'
import { findSubjectByName, subjectName } from './subject-name.ts'

/** Deletes one face. Deleting the last face of a subject deletes the subject. */
export const deleteFace = defineJsonRoute({
  method: 'DELETE',
  path: '/api/v1/recognition/faces/:image_id',
  permissions: ['svc.deleteSubject'],
  run: ({ pathParams, caller, services: { subjects, maintenance } }) => ({
    effect: async (tx) => {
      await subjects.lock(tx, caller.galleryId, 'exclusive')
      const removed = await removeFace(subjects, tx, caller, pathParams['image_id'])
      return { body: removed ?? subjectNotFound() }
    },
    afterCommit: () => maintenance.purge(caller.galleryId),
  }),
})

const facesMax = 200

/** Deletes faces by id. The response omits ids that do not exist. */
export const deleteFaceList = defineJsonRoute({
  method: 'POST',
  path: '/api/v1/recognition/faces/delete',
  permissions: ['svc.deleteSubject'],
  body: z.array(z.guid()).min(1).max(facesMax),
  run: ({ body: faceIds, caller, services: { subjects, maintenance } }) => ({
    effect: async (tx) => {
      await subjects.lock(tx, caller.galleryId, 'exclusive')
      const removed = await Array.fromAsync(faceIds, (faceId) =>
        removeFace(subjects, tx, caller, faceId),
      )
      return { body: removed.filter((face) => face !== undefined) }
    },
    afterCommit: () => maintenance.purge(caller.galleryId),
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
    const { subjects, maintenance } = services
    if (name === undefined)
      return deleteAllSubjects(call, (records) =>
        records.reduce((sum, { embeddingCount }) => sum + embeddingCount, 0),
      )
    return {
      effect: async (tx) => {
        await subjects.lock(tx, caller.galleryId, 'exclusive')
        const subject = await findSubjectByName(services, tx, caller, name)
        const deleted = subject ? (await subjects.remove(tx, subject)).embeddingCount : 0
        return { body: { deleted } }
      },
      afterCommit: () => maintenance.purge(caller.galleryId),
    }
  },
})

/** An empty name is probably a mistake, so it is rejected instead of deleting all subjects. */
function optionalSubject(query: URLSearchParams): string | undefined {
  if (!query.has('subject')) return undefined
  if (query.get('subject')?.trim() === '')
    throw new ActionError(
      'INVALID_REQUEST',
      'subject: must not be empty; omit it to delete all subjects',
    )
  return readQuery(subjectQuery, query).subject
}

async function removeFace(
  subjects: Subjects,
  tx: Tx,
  { galleryId }: Caller,
  faceId: string | undefined,
) {
  if (!isUuid(faceId)) return undefined
  const [face] = await subjects.listFaces(tx, { galleryId, faceId, limit: 1 })
  const subject = face && (await subjects.find(tx, galleryId, face))
  if (!subject) return undefined
  const { subjectId } = subject
  const isLast = (await subjects.listFaces(tx, { galleryId, subjectId, limit: 2 })).length === 1
  if (isLast) await subjects.remove(tx, subject)
  else await subjects.update(tx, subject, { removeFaceIds: [faceId] })
  return { image_id: face.faceId, subject: subjectName(subject) }
}
