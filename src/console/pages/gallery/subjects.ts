import { z } from 'zod'
import * as fields from '../../../actions/schemas/fields.ts'
import { deletionRecord, subject } from '../../../actions/schemas/subject.ts'
import { ActionError, HttpError } from '../../../lib/errors.ts'
import { isUuid } from '../../../lib/ids.ts'
import { listCountMax } from '../../../lib/limits/list-limits.ts'
import type { ReadTx, Tx } from '../../../store/database.ts'
import type { SubjectRow } from '../../../store/gallery-schema.ts'
import { lockGallery } from '../../../store/gallery/galleries.ts'
import { type ConsoleContext, defineRead, defineWrite } from '../../server/console-route.ts'
import { defineList } from '../../server/define-list.ts'
import * as input from '../../server/input.ts'
import { subjectIdQuery } from './bulk-changes.ts'

const subjectFilter = z.strictObject({
  q: z.string().min(1).max(128).optional(),
  externalId: fields.externalId.optional(),
  group: fields.groupName.optional(),
  createdFromUtc: input.utcTime.optional(),
  createdToUtc: input.utcTime.optional(),
  period: input.period,
  subjectIds: subjectIdQuery.optional(),
})

const listedSubject = subject.extend({
  lastSeenAtUtc: z
    .string()
    .meta({ description: 'Last enrollment or match; of several on one day, the first one.' }),
})

/** The list of subjects, also exported as CSV. */
export const { list: subjectList, pages: listSubjects } = defineList({
  path: '/projects/:projectId/subjects',
  filter: subjectFilter,
  item: listedSubject,
  sortBy: ['created', 'updated', 'seen', 'name'],
  isDescending: false,
  position: z.strictObject({ value: z.string(), subjectId: z.string() }),
  find: async (call, { after, limit, sort }) => {
    const { subjects } = call.services
    const order = { by: subjectSortColumns[sort.by], isDescending: sort.isDescending }
    const filter = { ...(await readConditions(call)), sort: order, after, limit }
    const found = await subjects.list(filter, (tx, rows) => toListed(tx, rows, call))
    return found.map(({ subject: item, position }) => ({ item, position }))
  },
  count: async (call) => {
    const conditions = await readConditions(call)
    return call.services.subjects.count({ ...conditions, limit: listCountMax })
  },
})

const subjectSortColumns = {
  created: 'createdAtUtc',
  updated: 'updatedAtUtc',
  seen: 'lastSeenAtUtc',
  name: 'searchText',
} as const

async function readConditions(call: ConsoleContext<z.output<typeof subjectFilter>>) {
  const { q: text, createdFromUtc, createdToUtc, period, ...ids } = call.query
  const { externalId, group, subjectIds } = ids
  const range = { fromUtc: createdFromUtc, toUtc: createdToUtc, period }
  const { fromUtc, toUtc } = input.resolveTimeRange(range, call.services.clock())
  const { galleryId } = await call.services.store.read((tx) => input.requireProject(tx, call))
  const times = { createdFromUtc: fromUtc?.toISOString(), createdToUtc: toUtc?.toISOString() }
  const { signal } = call.request
  return { galleryId, text, externalId, group, subjectIds, ...times, signal }
}

export const getSubject = defineRead('/projects/:projectId/subjects/:subjectId', {
  response: listedSubject,
  handle: async (call) =>
    call.services.store.read(async (tx) =>
      toSubjectResponse(tx, await requireSubject(tx, call), call),
    ),
})

export const editSubject = defineWrite('/projects/:projectId/subjects/:subjectId', {
  method: 'PATCH',
  auditAction: 'subject.update',
  body: z.strictObject({
    displayName: fields.displayName.nullable().optional(),
    externalId: fields.externalId.nullable().optional(),
    attributes: z.record(z.string(), z.unknown()).optional(),
    addGroups: z.array(fields.groupName).max(20).optional(),
    removeGroups: z.array(fields.groupName).max(20).optional(),
    expiresAtUtc: fields.expiresAtUtc.nullable().optional(),
  }),
  response: subject,
  handle: async (call, { tx }) => {
    const { expiresAtUtc: expiry } = call.body
    if (expiry && Date.parse(expiry) <= call.services.clock())
      throw input.invalidField('body.expiresAtUtc', 'must be in the future')
    const updated = await call.services.subjects.update(tx, await lockSubject(tx, call), call.body)
    // Only the field names: audit entries are permanent and must not contain personal data.
    const detail = { fields: Object.keys(call.body), projectId: call.pathParameters['projectId'] }
    return {
      response: await toSubjectResponse(tx, updated, call),
      target: updated.subjectId,
      detail,
    }
  },
})

export const removeSubject = defineWrite('/projects/:projectId/subjects/:subjectId', {
  method: 'DELETE',
  auditAction: 'subject.delete',
  body: z.strictObject({ confirm: z.string().max(64) }),
  response: deletionRecord,
  handle: async (call, { tx }) => {
    const { subjects, maintenance } = call.services
    const row = await lockSubject(tx, call)
    const { subjectId, galleryId } = row
    input.requireConfirmedId(call.body.confirm, subjectId, 'subjectId')
    const record = await subjects.remove(tx, row)
    const detail = { deletionId: record.deletionId, projectId: call.pathParameters['projectId'] }
    return {
      response: record,
      target: subjectId,
      detail,
      afterCommit: () => maintenance.purge(galleryId),
    }
  },
})

export const removeFace = defineWrite('/projects/:projectId/subjects/:subjectId/faces/:faceId', {
  method: 'DELETE',
  auditAction: 'subject.removeFace',
  response: subject,
  handle: async (call, { tx }) => {
    const { subjects, maintenance } = call.services
    const { faceId = '' } = call.pathParameters
    const row = await lockSubject(tx, call)
    const updated = await subjects.update(tx, row, { removeFaceIds: [faceId] })
    const { subjectId, galleryId } = updated
    const response = await toSubjectResponse(tx, updated, call)
    const afterCommit = () => maintenance.purge(galleryId)
    return { response, target: subjectId, detail: { faceId }, afterCommit }
  },
})

/** Locks the gallery against other changes and returns the subject in the path. */
export async function lockSubject(tx: Tx, call: ConsoleContext): Promise<SubjectRow> {
  const { galleryId } = await input.requireProject(tx, call)
  await lockGallery(tx, galleryId, 'exclusive')
  return requireSubject(tx, call)
}

/** @throws ActionError SUBJECT_NOT_FOUND unless the project has the subject in the path. */
export async function requireSubject(tx: ReadTx, call: ConsoleContext): Promise<SubjectRow> {
  const { galleryId } = await input.requireProject(tx, call)
  const { subjectId = '' } = call.pathParameters
  const { subjects } = call.services
  const row = isUuid(subjectId) ? await subjects.find(tx, galleryId, { subjectId }) : undefined
  if (!row) throw new ActionError('SUBJECT_NOT_FOUND', 'The gallery has no subject with this id.')
  return row
}

/** Returns a subject with the details of its faces. */
export async function toSubjectResponse(tx: ReadTx, row: SubjectRow, call: ConsoleContext) {
  const [details] = await toListed(tx, [row], call, { faces: true })
  if (!details) throw new Error('the details of an existing subject are missing')
  return details
}

async function toListed(
  tx: ReadTx,
  rows: readonly SubjectRow[],
  { services: { subjects } }: Pick<ConsoleContext, 'services'>,
  include = { faces: false },
) {
  const details = await subjects.loadDetails(tx, rows, include)
  return details.map((item, index) => {
    return { ...item, lastSeenAtUtc: rows[index]?.lastSeenAtUtc ?? item.createdAtUtc }
  })
}

/**
 * Moves all faces and groups of another subject to the subject in the path, and deletes that other
 * subject with a deletion record. The subject in the path keeps its ids, name, attributes and expiry.
 * The merge can be undone for 30 days.
 */
export const mergeIntoSubject = defineWrite('/projects/:projectId/subjects/:subjectId/merge', {
  auditAction: 'subject.merge',
  body: z.strictObject({ sourceSubjectId: input.id, confirm: z.string().max(64) }),
  response: z.object({ subject, deletionId: z.string(), mergeId: z.string() }),
  handle: async (call, { tx }) => {
    const { subjects, maintenance } = call.services
    const { confirm } = call.body
    const sourceSubjectId = call.body.sourceSubjectId.toLowerCase()
    const target = await lockSubject(tx, call)
    const { subjectId, galleryId } = target
    if (sourceSubjectId === subjectId)
      throw input.invalidField(
        'body.sourceSubjectId',
        'must be another subject than the one in the path',
      )
    input.requireConfirmedId(confirm, sourceSubjectId, 'sourceSubjectId')
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
export const undoMerge = defineWrite('/projects/:projectId/merges/:mergeId/undo', {
  auditAction: 'subject.undoMerge',
  response: z.object({ subject, target: subject }),
  handle: async (call, { tx }) => {
    const { subjects, maintenance } = call.services
    const { projectId, mergeId = '' } = call.pathParameters
    const { galleryId } = await input.requireProject(tx, call)
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
export const moveFace = defineWrite('/projects/:projectId/subjects/:subjectId/faces/:faceId/move', {
  auditAction: 'subject.moveFace',
  body: z.strictObject({ targetSubjectId: input.id }),
  response: z.object({ subject, target: subject }),
  handle: async (call, { tx }) => {
    const { subjects, maintenance } = call.services
    const { projectId, faceId = '' } = call.pathParameters
    const source = await lockSubject(tx, call)
    const { subjectId, galleryId } = source
    const targetSubjectId = call.body.targetSubjectId.toLowerCase()
    const target = await subjects.find(tx, galleryId, { subjectId: targetSubjectId })
    if (!target || targetSubjectId === subjectId)
      throw input.invalidField('body.targetSubjectId', 'must be another subject of the gallery')
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
