import { z } from 'zod'
import examples from '../../actions/schemas/examples.json' with { type: 'json' }
import { externalId, utcTime, uuid } from '../../actions/schemas/fields.ts'
import { deletionRecord } from '../../actions/schemas/subject.ts'
import {
  cursor,
  cutPage,
  limit,
  nextCursor,
  packCursor,
  total,
  totalFields,
  toTotal,
  toStoredTimestamp,
  unpackCursor,
} from './pagination.ts'
import { defineRoute } from './rest-route.ts'

/** The number of a record as text, so that a cursor of the other order is refused. */
const ascendingCursor = z
  .string()
  .regex(/^\d{1,15}$/u)
  .transform(Number)

export const listDeletions = defineRoute({
  method: 'GET',
  path: '/v1/deletions',
  name: 'listDeletions',
  summary:
    'List the deletion records of the gallery, by default newest first. They are kept permanently.',
  permission: 'deletions:read',
  query: z.strictObject({
    subjectId: uuid.optional(),
    externalId: externalId.optional(),
    fromUtc: utcTime.optional(),
    toUtc: utcTime.optional(),
    sort: z.enum(['deleted', '-deleted']).default('-deleted').meta({
      description: 'By the time of deletion, ascending or (`-`) descending.',
    }),
    total,
    limit,
    cursor,
  }),
  value: z
    .object({ items: z.array(deletionRecord), nextCursor, ...totalFields })
    .meta({ id: 'DeletionPage' }),
  example: { items: [examples['svc.deleteSubject'].value], nextCursor: null },
  run: async ({ query, caller, services: { subjects, maintenance } }) => {
    const isAscending = query.sort === 'deleted'
    const after = unpackCursor(query.cursor, isAscending ? ascendingCursor : z.int())
    const conditions = {
      galleryId: caller.galleryId,
      subjectId: query.subjectId,
      externalId: query.externalId,
      fromUtc: toStoredTimestamp(query.fromUtc),
      toUtc: toStoredTimestamp(query.toUtc),
    }
    const filter = { ...conditions, isAscending, after, limit: query.limit + 1 }
    const { found, counted } = await subjects.read(async (reading) => ({
      found: await maintenance.listDeletions(reading, filter),
      counted:
        query.total === 'true' && toTotal(await maintenance.countDeletions(reading, conditions)),
    }))
    const { page, last } = cutPage(found, query.limit)
    return {
      items: page.map(({ record }) => record),
      nextCursor: last ? packCursor(isAscending ? `${last.seq}` : last.seq) : null,
      ...counted,
    }
  },
})
