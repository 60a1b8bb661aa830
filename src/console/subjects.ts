import { z } from 'zod'
import { displayName, expiresAtUtc, externalId, groupName } from '../actions/fields.ts'
import { deletionRecord, subject } from '../actions/subject.ts'
import { ActionError } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import type { SubjectRow } from '../store/schema.ts'
import type { Reading, Tx } from '../store/tx.ts'
import { moment } from './fields.ts'
import { Invalid } from './invalid.ts'
import { defineList, describeList } from './list.ts'
import { defineRead, defineWrite, noQuery, nothing, type ConsoleCall } from './route.ts'
import { theProject } from './the-project.ts'

const subjects = describeList({
  path: '/projects/:projectId/subjects',
  who: 'viewer',
  filter: z.strictObject({
    q: z.string().min(1).max(128).optional(),
    externalId: externalId.optional(),
    group: groupName.optional(),
    createdFromUtc: moment.optional(),
    createdToUtc: moment.optional(),
  }),
  item: subject,
  place: z.tuple([z.string(), z.string()]),
  find: async (call, { after, limit }) => {
    const { query, services } = call
    const { q: text, group, createdFromUtc, createdToUtc } = query
    return services.store.read(async (reading) => {
      const filter = {
        galleryId: (await theProject(reading, call)).galleryId,
        externalId: query.externalId,
        group,
        text,
        createdFromUtc: createdFromUtc?.toISOString(),
        createdToUtc: createdToUtc?.toISOString(),
        after: after && { createdAtUtc: after[0], subjectId: after[1] },
        limit,
      }
      const rows = await services.gallery.list(reading, filter)
      return (await services.gallery.describe(reading, rows)).map((item) => {
        return { item, place: [item.createdAtUtc, item.subjectId] as const }
      })
    })
  },
})

export const listSubjects = defineList(subjects)

export const getSubject = defineRead({
  path: '/projects/:projectId/subjects/:subjectId',
  who: 'viewer',
  query: noQuery,
  answer: subject,
  handle: async (call) =>
    call.services.store.read(async (reading) =>
      shown(reading, await theSubject(reading, call), call),
    ),
})

export const changeSubject = defineWrite({
  method: 'PATCH',
  path: '/projects/:projectId/subjects/:subjectId',
  who: 'admin',
  act: 'subject.change',
  query: noQuery,
  body: z.strictObject({
    displayName: displayName.nullable().optional(),
    externalId: externalId.nullable().optional(),
    attributes: z.record(z.string(), z.unknown()).optional(),
    addGroups: z.array(groupName).max(20).optional(),
    removeGroups: z.array(groupName).max(20).optional(),
    expiresAtUtc: expiresAtUtc.nullable().optional(),
  }),
  answer: subject,
  handle: async (call, { tx }) => {
    const changed = await call.services.gallery.update(tx, await heldSubject(tx, call), call.body)
    // What was written about a person is not for the audit, which is kept for ever.
    const detail = { fields: Object.keys(call.body), projectId: call.parts['projectId'] }
    return { answer: await shown(tx, changed, call), target: changed.subjectId, detail }
  },
})

export const removeSubject = defineWrite({
  method: 'DELETE',
  path: '/projects/:projectId/subjects/:subjectId',
  who: 'admin',
  act: 'subject.delete',
  query: noQuery,
  body: z.strictObject({ confirm: z.string().max(64) }),
  answer: deletionRecord,
  handle: async (call, { tx }) => {
    const { gallery } = call.services
    const found = await heldSubject(tx, call)
    const { subjectId, galleryId } = found
    if (call.body.confirm.toLowerCase() !== subjectId.slice(0, 8))
      throw new Invalid([{ path: 'body.confirm', message: 'repeat the first 8 digits of the id' }])
    const answer = await gallery.remove(tx, found)
    const detail = { deletionId: answer.deletionId, projectId: call.parts['projectId'] }
    return { answer, target: subjectId, detail, afterwards: () => gallery.forget(galleryId) }
  },
})

export const removeFace = defineWrite({
  method: 'DELETE',
  path: '/projects/:projectId/subjects/:subjectId/faces/:faceId',
  who: 'admin',
  act: 'subject.removeFace',
  query: noQuery,
  body: nothing,
  answer: subject,
  handle: async (call, { tx }) => {
    const { gallery } = call.services
    const { faceId = '' } = call.parts
    const found = await heldSubject(tx, call)
    const changed = await gallery.update(tx, found, { removeFaceIds: [faceId] })
    const { subjectId, galleryId } = changed
    const answer = await shown(tx, changed, call)
    const afterwards = () => gallery.forget(galleryId)
    return { answer, target: subjectId, detail: { faceId }, afterwards }
  },
})

/** To be changed: nobody else changes the gallery meanwhile. */
async function heldSubject(tx: Tx, call: ConsoleCall): Promise<SubjectRow> {
  const { galleryId } = await theProject(tx, call)
  await call.services.gallery.hold(tx, galleryId, 'alone')
  return theSubject(tx, call)
}

async function theSubject(reading: Reading, call: ConsoleCall): Promise<SubjectRow> {
  const { galleryId } = await theProject(reading, call)
  const { subjectId = '' } = call.parts
  const { gallery } = call.services
  const found = isUuid(subjectId)
    ? await gallery.find(reading, galleryId, { subjectId })
    : undefined
  if (!found) throw new ActionError('SUBJECT_NOT_FOUND', 'The gallery has no such subject.')
  return found
}

async function shown(reading: Reading, row: SubjectRow, { services: { gallery } }: ConsoleCall) {
  const [described] = await gallery.describe(reading, [row], { faces: true })
  if (!described) throw new Error('the subject is gone')
  return described
}
