import { setImmediate as nextTurn } from 'node:timers/promises'
import { z } from 'zod'
import type { Caller, Services } from '../../actions/action.ts'
import { subjectNotFound } from '../../actions/parts/action-errors.ts'
import { changePermissions, requirePermission } from '../../actions/parts/subject-permissions.ts'
import { externalId } from '../../actions/schemas/fields.ts'
import { ActionError } from '../../lib/errors.ts'
import type { SubjectRow } from '../../store/gallery-schema.ts'
import type { Tx } from '../../store/database.ts'
import { defineJsonRoute } from '../json-route.ts'
import type { CallContext } from '../serve-route.ts'
import { changeSubjects, deleteAllPermissions, deleteAllSubjects } from './change-subjects.ts'
import { findSubjectByName, subjectName } from './subject-name.ts'

const subjectsPath = '/api/v1/recognition/subjects'
const subjectBody = z.object({ subject: externalId })

/** Returns the names of all subjects. */
export const listSubjects = defineJsonRoute({
  method: 'GET',
  path: subjectsPath,
  permissions: ['subjects:read'],
  run: async ({ caller, services }) => {
    const subjects = await listSubjectNames(services, caller)
    return { outcome: { body: { subjects } } }
  },
})

/** Creates a subject without a face. */
export const addSubject = defineJsonRoute({
  method: 'POST',
  path: subjectsPath,
  status: 201,
  permissions: ['svc.enroll'],
  body: subjectBody,
  run: ({ body: { subject: name }, caller, services }) => ({
    effect: async (tx) => {
      await services.subjects.lock(tx, caller.galleryId, 'exclusive')
      if (await findSubjectByName(services, tx, caller, name))
        throw new ActionError('EXTERNAL_ID_CONFLICT', 'a subject already has this name')
      await services.subjects.create(tx, caller, { externalId: name, withoutFaces: true })
      return { body: { subject: name } }
    },
  }),
})

/**
 * Renames a subject. If the new name is in use, the subjects are merged, as CompreFace does: the
 * faces and groups move to the subject with that name, and the renamed subject is deleted with a
 * deletion record. Merging therefore also needs the permission to delete a subject and, because the faces
 * are not compared, the one to force faces.
 */
export const renameSubject = defineJsonRoute({
  method: 'PUT',
  path: `${subjectsPath}/:subject`,
  permissions: ['svc.updateSubject'],
  body: subjectBody,
  run: (call) =>
    changeSubjects(call, async (tx) => {
      const { body, caller, services } = call
      const subject = await requireSubject(tx, call)
      const holder = await findSubjectByName(services, tx, caller, body.subject)
      if (holder && holder.subjectId !== subject.subjectId) {
        requirePermission(
          caller,
          'svc.deleteSubject',
          'A subject with the new name exists, so that the subjects would be merged',
        )
        requirePermission(
          caller,
          changePermissions.force.permission,
          'The subjects would be merged, and their faces are not compared',
        )
        await services.subjects.merge(tx, { source: subject, target: holder })
      } else await services.subjects.update(tx, subject, { externalId: body.subject })
      return { updated: true }
    }),
})

export const deleteSubject = defineJsonRoute({
  method: 'DELETE',
  path: `${subjectsPath}/:subject`,
  permissions: ['svc.deleteSubject'],
  run: (call) =>
    changeSubjects(call, async (tx) => {
      const subject = await requireSubject(tx, call)
      await call.services.subjects.remove(tx, subject)
      return { subject: subjectName(subject) }
    }),
})

type SubjectCall = CallContext & { readonly pathParams: Readonly<Record<string, string>> }

/** @throws ActionError SUBJECT_NOT_FOUND unless the gallery has the subject in the path. */
async function requireSubject(tx: Tx, { pathParams, caller, services }: SubjectCall) {
  const name = pathParams['subject'] ?? ''
  return (await findSubjectByName(services, tx, caller, name)) ?? subjectNotFound()
}

export const deleteSubjects = defineJsonRoute({
  method: 'DELETE',
  path: subjectsPath,
  permissions: deleteAllPermissions,
  run: (call) => deleteAllSubjects(call, (records) => records.length),
})

/** Each page is a separate read, and SQLite needs a turn of the event loop for other calls between. */
const pageSize = 1000
const namesMax = 100_000

/** @throws ActionError INVALID_REQUEST if there are too many subjects for one response. */
async function listSubjectNames({ subjects }: Services, { galleryId }: Caller): Promise<string[]> {
  const names: string[] = []
  let after: SubjectRow | undefined
  do {
    const position = after && { value: after.createdAtUtc, subjectId: after.subjectId }
    const filter = { galleryId, after: position, limit: pageSize }
    const page = await subjects.list(filter, async (_reading, found) => found)
    names.push(...page.map(subjectName))
    if (names.length > namesMax)
      throw new ActionError(
        'INVALID_REQUEST',
        `the gallery has more than ${namesMax} subjects: GET /v1/subjects lists them in pages`,
      )
    after = page.length === pageSize ? page.at(-1) : undefined
    await nextTurn()
  } while (after)
  return names
}
