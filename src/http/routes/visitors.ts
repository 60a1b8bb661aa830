import { z } from 'zod'
import { calibratedServices } from '../../actions/action.ts'
import { changePermissions, requirePermission } from '../../actions/parts/subject-permissions.ts'
import { findVisitorsOfSubject } from '../../actions/parts/search/visitors-of-subject.ts'
import actionExamples from '../../actions/schemas/examples.json' with { type: 'json' }
import * as fields from '../../actions/schemas/fields.ts'
import { deletionRecord, subject } from '../../actions/schemas/subject.ts'
import examples from './examples.json' with { type: 'json' }
import { cursor, cutPage, limit, nextCursor, packCursor, unpackCursor } from './pagination.ts'
import { defineRoute } from './rest-route.ts'
import texts from '../../actions/schemas/field-texts.json' with { type: 'json' }

const visitorId = fields.uuid.describe(texts.visitors.visitorId)
/** The parts of a route of one visitor. */
const ofVisitor = { pathParams: z.object({ visitorId }), query: z.strictObject({}) }

/** An unknown person in a response. */
export const visitor = z
  .object({
    visitorId: z.uuid(),
    visitCount: z.int().min(1).describe(texts.visitors.visitCount),
    firstSeenAtUtc: z.string(),
    lastSeenAtUtc: z.string().describe(texts.visitors.lastSeenAtUtc),
    embeddingCount: z.int().min(0).describe(texts.visitors.embeddingCount),
    ignored: z.boolean().describe(texts.visitors.ignored),
    similarity: fields.similarity.optional().describe(texts.visitors.similarity),
  })
  .meta({ id: 'Visitor' })

/** Which visitors a list contains. */
export const ignoredFilter = z
  .enum(['true', 'false', 'all'])
  .default('false')
  .describe(texts.visitors.ignoredFilter)

/** Returns the filter of the list. */
export function isIgnoredOf({ ignored }: { readonly ignored: z.output<typeof ignoredFilter> }) {
  return ignored === 'all' ? undefined : ignored === 'true'
}

export const listVisitors = defineRoute('GET', '/v1/visitors', {
  name: 'listVisitors',
  summary: 'List the unknown people that svc.identify found, or those that resemble a subject.',
  permission: 'subjects:read',
  query: z.strictObject({
    sort: z.enum(['-lastSeen', '-visits']).default('-lastSeen').describe(texts.visitors.sort),
    ignored: ignoredFilter,
    subjectId: fields.subjectId.optional().describe(texts.visitors.subjectId),
    limit,
    cursor,
  }),
  hasUnknown: true,
  value: z.object({ items: z.array(visitor), nextCursor }).meta({ id: 'VisitorPage' }),
  example: { items: [examples.visitor], nextCursor: null },
  run: async ({ query, caller, services }) => {
    const { subjects, visitors } = services
    if (query.subjectId !== undefined) {
      const params = { subjectId: query.subjectId }
      const call = { params, caller, services: calibratedServices(services, caller) }
      return { items: await findVisitorsOfSubject(call), nextCursor: null }
    }
    const position = unpackCursor(query.cursor, cursorSchemas[query.sort])
    const sortBy = query.sort === '-visits' ? 'visitCount' : 'lastSeenAtUtc'
    return subjects.read(async (reading) => {
      const found = await visitors.list(reading, {
        galleryId: visitors.galleryIdOf(caller.galleryId),
        isIgnored: isIgnoredOf(query),
        sortBy,
        after: position && { value: position[0], subjectId: position[1] },
        limit: query.limit + 1,
      })
      const { page, last } = cutPage(found, query.limit)
      const items = await visitors.loadDetails(reading, page)
      return { items, nextCursor: last ? packCursor([last[sortBy] ?? 0, last.subjectId]) : null }
    })
  },
})

/** The position of a page: its type differs, so that a cursor of the other order is refused. */
const cursorSchemas = {
  '-lastSeen': z.tuple([z.string(), z.string()]),
  '-visits': z.tuple([z.int(), z.string()]),
}

export const getVisitor = defineRoute('GET', '/v1/visitors/:visitorId', {
  name: 'getVisitor',
  summary: 'Show one unknown person.',
  permission: 'subjects:read',
  ...ofVisitor,
  value: visitor,
  example: examples.visitor,
  run: ({ pathParams: ids, caller: { galleryId }, services: { subjects, visitors } }) =>
    subjects.read(async (reading) => {
      const found = await visitors.require(reading, { galleryId, ...ids })
      return (await visitors.loadDetails(reading, [found]))[0]
    }),
})

/** The person that a visitor becomes. */
export const promotion = z
  .strictObject({
    externalId: fields.externalId.optional(),
    displayName: fields.displayName.optional(),
    groups: fields.groups.default([]),
    attributes: fields.attributes.optional(),
    expiresAtUtc: fields.expiresAtUtc.optional(),
  })
  .meta({ id: 'VisitorPromotion' })

export const promoteVisitor = defineRoute('POST', '/v1/visitors/:visitorId/promote', {
  name: 'promoteVisitor',
  summary:
    'Enroll an unknown person as a new subject. The visitor ends. `expiresAtUtc` also needs `svc.deleteSubject`.',
  permission: 'svc.enroll',
  ...ofVisitor,
  body: promotion,
  value: subject,
  example: actionExamples['svc.updateSubject'].value,
  run: ({ pathParams, body, caller, services: { maintenance, visitors } }) => {
    const reason = 'body.expiresAtUtc: the person would be deleted at this time'
    if (body.expiresAtUtc) requirePermission(caller, changePermissions.expiry.permission, reason)
    return maintenance.changeVisitor({ ...caller, ...pathParams }, (tx, visitor) =>
      visitors.promote(tx, visitor, { ...body, owner: caller }),
    )
  },
})

export const mergeVisitor = defineRoute('POST', '/v1/visitors/:visitorId/merge', {
  name: 'mergeVisitor',
  summary: 'Add the faces of an unknown person to a subject. The visitor ends.',
  permission: changePermissions.force.permission,
  ...ofVisitor,
  body: z.strictObject({ subjectId: fields.subjectId }).meta({ id: 'VisitorMerge' }),
  value: subject,
  example: actionExamples['svc.updateSubject'].value,
  run: ({ pathParams, body, caller, services: { maintenance, visitors } }) =>
    maintenance.changeVisitor({ ...caller, ...pathParams }, (tx, visitor) =>
      visitors.merge(tx, visitor, body.subjectId),
    ),
})

export const ignoreVisitor = defineRoute('POST', '/v1/visitors/:visitorId/ignore', {
  name: 'ignoreVisitor',
  summary: 'Send no events for an unknown person, or send them again.',
  permission: 'svc.updateSubject',
  ...ofVisitor,
  body: z.strictObject({ ignored: z.boolean() }).meta({ id: 'VisitorIgnored' }),
  value: visitor,
  example: { ...examples.visitor, ignored: true },
  run: ({ pathParams, body, caller, services: { maintenance, visitors } }) =>
    maintenance.changeVisitor({ ...caller, ...pathParams }, (tx, visitor) =>
      visitors.ignore(tx, visitor, body.ignored),
    ),
})

export const deleteVisitor = defineRoute('DELETE', '/v1/visitors/:visitorId', {
  name: 'deleteVisitor',
  summary: 'Permanently delete an unknown person.',
  permission: 'svc.deleteSubject',
  ...ofVisitor,
  value: deletionRecord,
  example: actionExamples['svc.deleteSubject'].value,
  run: ({ pathParams, caller, services: { maintenance, visitors } }) =>
    maintenance.changeVisitor({ ...caller, ...pathParams }, visitors.remove),
})
