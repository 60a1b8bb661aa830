import { z } from 'zod'
import { subject } from '../../../actions/schemas/subject.ts'
import { ActionError, HttpError } from '../../../lib/errors.ts'
import { id, invalidField } from '../../server/input.ts'
import { defineWrite } from '../../server/console-route.ts'
import { requireProject } from '../../server/require-project.ts'
import { lockSubject, requireSubject, toSubjectResponse } from './subjects.ts'

/**
 * Moves all faces and groups of another subject to the subject in the path, and deletes that other
 * subject with a deletion record. The subject in the path keeps its ids, name, attributes and expiry.
 * The merge can be undone for 30 days.
 */
export const mergeIntoSubject = defineWrite({
  path: '/projects/:projectId/subjects/:subjectId/merge',
  auditAction: 'subject.merge',
  body: z.strictObject({ sourceSubjectId: id, confirm: z.string().max(64) }),
  response: z.object({ subject, deletionId: z.string(), mergeId: z.string() }),
  handle: async (call, { tx }) => {
    const { subjects, maintenance } = call.services
    const { confirm } = call.body
    const sourceSubjectId = call.body.sourceSubjectId.toLowerCase()
    const target = await lockSubject(tx, call)
    const { subjectId, galleryId } = target
    if (sourceSubjectId === subjectId)
      throw invalidField('body.sourceSubjectId', 'must be another subject than the one in the path')
    if (confirm.toLowerCase() !== sourceSubjectId.slice(0, 8))
      throw invalidField(
        'body.confirm',
        'must repeat the first 8 characters of the sourceSubjectId',
      )
    const source = await subjects.find(tx, galleryId, { subjectId: sourceSubjectId })
    if (!source)
      throw new ActionError(
        'SUBJECT_NOT_FOUND',
        'The gallery has no subject to merge with this id.',
      )
    const { record, mergeId } = await subjects.merge(tx, { source, target })
    const { deletionId } = record
    const merged = (await subjects.find(tx, galleryId, { subjectId })) ?? target
    const { projectId } = call.pathParameters
    return {
      response: { subject: await toSubjectResponse(tx, merged, call), deletionId, mergeId },
      target: subjectId,
      detail: { sourceSubjectId, deletionId, mergeId, projectId },
      afterCommit: () => maintenance.purge(galleryId),
    }
  },
})

/** Undoes a merge: the deleted subject exists again, with its faces and a new id. */
export const undoMerge = defineWrite({
  path: '/projects/:projectId/merges/:mergeId/undo',
  auditAction: 'subject.undoMerge',
  response: z.object({ subject, target: subject }),
  handle: async (call, { tx }) => {
    const { subjects, maintenance } = call.services
    const { projectId, mergeId = '' } = call.pathParameters
    const { galleryId } = await requireProject(tx, call)
    await subjects.lock(tx, galleryId, 'exclusive')
    const separated = await subjects.undoMerge(tx, { galleryId, mergeId: mergeId.toLowerCase() })
    const { subjectId } = separated.subject
    return {
      response: {
        subject: await toSubjectResponse(tx, separated.subject, call),
        target: await toSubjectResponse(tx, separated.target, call),
      },
      target: separated.target.subjectId,
      detail: { mergeId, subjectId, projectId },
      afterCommit: () => maintenance.purge(galleryId),
    }
  },
})

/** Moves a face of the subject in the path to another subject of the gallery. */
export const moveFace = defineWrite({
  path: '/projects/:projectId/subjects/:subjectId/faces/:faceId/move',
  auditAction: 'subject.moveFace',
  body: z.strictObject({ targetSubjectId: id }),
  response: z.object({ subject, target: subject }),
  handle: async (call, { tx }) => {
    const { subjects, maintenance } = call.services
    const { projectId, faceId = '' } = call.pathParameters
    const source = await lockSubject(tx, call)
    const { subjectId, galleryId } = source
    const targetSubjectId = call.body.targetSubjectId.toLowerCase()
    const target = await subjects.find(tx, galleryId, { subjectId: targetSubjectId })
    if (!target || targetSubjectId === subjectId)
      throw invalidField('body.targetSubjectId', 'must be another subject of the gallery')
    const faces = await subjects.listFaces(tx, { galleryId, subjectId, faceId, limit: 1 })
    if (faces.length === 0) throw new HttpError(404, 'The subject has no face with this id.')
    await subjects.moveFaces(tx, { target, faceIds: [faceId] })
    return {
      response: {
        subject: await toSubjectResponse(tx, await requireSubject(tx, call), call),
        target: await toSubjectResponse(tx, target, call),
      },
      target: subjectId,
      detail: { faceId: faceId.toLowerCase(), targetSubjectId, projectId },
      afterCommit: () => maintenance.purge(galleryId),
    }
  },
})
