import { z } from 'zod'
import type { Caller, Services } from '../../actions/action.ts'
import { externalId } from '../../actions/schemas/fields.ts'
import { subjectNotFound } from '../../actions/parts/subject-not-found.ts'
import { ActionError } from '../../lib/errors.ts'
import type { SubjectRow } from '../../store/schema.ts'
import { defineJsonRoute } from '../json-route.ts'
import { deleteAllSubjects, deleteAllPermissions } from './delete-all-subjects.ts'
import { findSubjectByName, subjectName } from './subject-name.ts'

const subjectsPath = '/api/v1/recognition/subjects'
const subjectBody = z.object({ subject: externalId })
const ignoreQuery = (): undefined => undefined

/** The names of all subjects. */
export const listSubjects = defineJsonRoute({
  method: 'GET',
  path: subjectsPath,
  permissions: ['subjects:read'],
  query: ignoreQuery,
  run: async ({ caller, services }) => {
    const subjects = await listSubjectNames(services, caller)
    return { effect: () => ({ body: { subjects } }) }
  },
})

/** A subject without a face yet. */
export const addSubject = defineJsonRoute({
  method: 'POST',
  path: subjectsPath,
  status: 201,
  permissions: ['svc.enroll'],
  query: ignoreQuery,
  body: subjectBody,
  run: ({ body: { subject }, caller, services }) => ({
    effect: async (tx) => {
      await services.gallery.lock(tx, caller.galleryId, 'exclusive')
      if (await findSubjectByName(services, tx, caller, subject))
        throw new ActionError('EXTERNAL_ID_CONFLICT', 'a subject has this name already')
      await services.gallery.create(tx, caller, { externalId: subject })
      return { body: { subject } }
    },
  }),
})

/** CompreFace merges subjects when the new name is taken; here it is refused. */
export const renameSubject = defineJsonRoute({
  method: 'PUT',
  path: `${subjectsPath}/:subject`,
  permissions: ['svc.updateSubject'],
  query: ignoreQuery,
  body: subjectBody,
  run: ({ pathParams: parts, body, caller, services }) => ({
    effect: async (tx) => {
      await services.gallery.lock(tx, caller.galleryId, 'exclusive')
      const found =
        (await findSubjectByName(services, tx, caller, parts['subject'] ?? '')) ?? subjectNotFound()
      await services.gallery.update(tx, found, { externalId: body.subject })
      return { body: { updated: true } }
    },
  }),
})

export const deleteSubject = defineJsonRoute({
  method: 'DELETE',
  path: `${subjectsPath}/:subject`,
  permissions: ['svc.deleteSubject'],
  query: ignoreQuery,
  run: ({ pathParams: parts, caller, services }) => ({
    effect: async (tx) => {
      await services.gallery.lock(tx, caller.galleryId, 'exclusive')
      const found =
        (await findSubjectByName(services, tx, caller, parts['subject'] ?? '')) ?? subjectNotFound()
      await services.gallery.remove(tx, found)
      return { body: { subject: subjectName(found) } }
    },
    afterCommit: () => services.gallery.purge(caller.galleryId),
  }),
})

export const deleteSubjects = defineJsonRoute({
  method: 'DELETE',
  path: subjectsPath,
  permissions: deleteAllPermissions,
  query: ignoreQuery,
  run: (call) => deleteAllSubjects(call, (records) => records.length),
})

/** Read at once, so that other calls get their turn between. */
const pageSize = 1000
const namesMax = 100_000

/** @throws ActionError INVALID_REQUEST when there are too many for one answer. */
async function listSubjectNames({ gallery }: Services, { galleryId }: Caller): Promise<string[]> {
  const names: string[] = []
  let after: SubjectRow | undefined
  do {
    const filter = { galleryId, after, limit: pageSize }
    const page = await gallery.read((reading) => gallery.list(reading, filter))
    names.push(...page.map(subjectName))
    if (names.length > namesMax)
      throw new ActionError(
        'INVALID_REQUEST',
        `there are more than ${namesMax} subjects: GET /v1/subjects lists them page by page`,
      )
    after = page.length === pageSize ? page.at(-1) : undefined
  } while (after)
  return names
}
