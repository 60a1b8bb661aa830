import { z } from 'zod'
import { displayName, expiresAtUtc, externalId, groupName } from '../../actions/schemas/fields.ts'
import { deletionRecord, subject } from '../../actions/schemas/subject.ts'
import { ActionError } from '../../lib/errors.ts'
import { isUuid } from '../../lib/ids.ts'
import type { SubjectRow } from '../../store/schema.ts'
import type { ReadTx, Tx } from '../../store/tx.ts'
import { utcTime } from '../server/schemas.ts'
import { ValidationError } from '../server/validation-error.ts'
import { defineList, declareList } from '../server/list.ts'
import { defineRead, defineWrite, noQuery, noBody, type ConsoleContext } from '../server/route.ts'
import { requireProject } from '../server/require-project.ts'

const subjectList = declareList({
  path: '/projects/:projectId/subjects',
  minimumRole: 'viewer',
  filter: z.strictObject({
    q: z.string().min(1).max(128).optional(),
    externalId: externalId.optional(),
    group: groupName.optional(),
    createdFromUtc: utcTime.optional(),
    createdToUtc: utcTime.optional(),
  }),
  item: subject,
  position: z.tuple([z.string(), z.string()]),
  find: async (call, { after, limit }) => {
    const { query, services } = call
    const { q: text, group, createdFromUtc, createdToUtc } = query
    return services.store.read(async (reading) => {
      const filter = {
        galleryId: (await requireProject(reading, call)).galleryId,
        externalId: query.externalId,
        group,
        text,
        createdFromUtc: createdFromUtc?.toISOString(),
        createdToUtc: createdToUtc?.toISOString(),
        after: after && { createdAtUtc: after[0], subjectId: after[1] },
        limit,
      }
      const rows = await services.gallery.list(reading, filter)
      return (await services.gallery.loadSubjectDetails(reading, rows)).map((item) => {
        return { item, position: [item.createdAtUtc, item.subjectId] as const }
      })
    })
  },
})

export const listSubjects = defineList(subjectList)

export const getSubject = defineRead({
  path: '/projects/:projectId/subjects/:subjectId',
  minimumRole: 'viewer',
  query: noQuery,
  response: subject,
  handle: async (call) =>
    call.services.store.read(async (reading) =>
      toSubjectResponse(reading, await requireSubject(reading, call), call),
    ),
})

export const editSubject = defineWrite({
  method: 'PATCH',
  path: '/projects/:projectId/subjects/:subjectId',
  minimumRole: 'admin',
  auditAction: 'subject.change',
  query: noQuery,
  body: z.strictObject({
    displayName: displayName.nullable().optional(),
    externalId: externalId.nullable().optional(),
    attributes: z.record(z.string(), z.unknown()).optional(),
    addGroups: z.array(groupName).max(20).optional(),
    removeGroups: z.array(groupName).max(20).optional(),
    expiresAtUtc: expiresAtUtc.nullable().optional(),
  }),
  response: subject,
  handle: async (call, { tx }) => {
    const changed = await call.services.gallery.update(tx, await lockSubject(tx, call), call.body)
    // What was written about a person is not for the audit, which is kept for ever.
    const detail = { fields: Object.keys(call.body), projectId: call.pathParameters['projectId'] }
    return {
      response: await toSubjectResponse(tx, changed, call),
      target: changed.subjectId,
      detail,
    }
  },
})

export const removeSubject = defineWrite({
  method: 'DELETE',
  path: '/projects/:projectId/subjects/:subjectId',
  minimumRole: 'admin',
  auditAction: 'subject.delete',
  query: noQuery,
  body: z.strictObject({ confirm: z.string().max(64) }),
  response: deletionRecord,
  handle: async (call, { tx }) => {
    const { gallery } = call.services
    const found = await lockSubject(tx, call)
    const { subjectId, galleryId } = found
    if (call.body.confirm.toLowerCase() !== subjectId.slice(0, 8))
      throw new ValidationError([
        { path: 'body.confirm', message: 'repeat the first 8 digits of the id' },
      ])
    const answer = await gallery.remove(tx, found)
    const detail = { deletionId: answer.deletionId, projectId: call.pathParameters['projectId'] }
    return {
      response: answer,
      target: subjectId,
      detail,
      afterCommit: () => gallery.purge(galleryId),
    }
  },
})

export const removeFace = defineWrite({
  method: 'DELETE',
  path: '/projects/:projectId/subjects/:subjectId/faces/:faceId',
  minimumRole: 'admin',
  auditAction: 'subject.removeFace',
  query: noQuery,
  body: noBody,
  response: subject,
  handle: async (call, { tx }) => {
    const { gallery } = call.services
    const { faceId = '' } = call.pathParameters
    const found = await lockSubject(tx, call)
    const changed = await gallery.update(tx, found, { removeFaceIds: [faceId] })
    const { subjectId, galleryId } = changed
    const answer = await toSubjectResponse(tx, changed, call)
    const afterwards = () => gallery.purge(galleryId)
    return { response: answer, target: subjectId, detail: { faceId }, afterCommit: afterwards }
  },
})

/** To be changed: nobody else changes the gallery meanwhile. */
async function lockSubject(tx: Tx, call: ConsoleContext): Promise<SubjectRow> {
  const { galleryId } = await requireProject(tx, call)
  await call.services.gallery.lock(tx, galleryId, 'exclusive')
  return requireSubject(tx, call)
}

async function requireSubject(reading: ReadTx, call: ConsoleContext): Promise<SubjectRow> {
  const { galleryId } = await requireProject(reading, call)
  const { subjectId = '' } = call.pathParameters
  const { gallery } = call.services
  const found = isUuid(subjectId)
    ? await gallery.find(reading, galleryId, { subjectId })
    : undefined
  if (!found) throw new ActionError('SUBJECT_NOT_FOUND', 'The gallery has no such subject.')
  return found
}

async function toSubjectResponse(
  reading: ReadTx,
  row: SubjectRow,
  { services: { gallery } }: ConsoleContext,
) {
  const [described] = await gallery.loadSubjectDetails(reading, [row], { faces: true })
  if (!described) throw new Error('the subject is gone')
  return described
}
