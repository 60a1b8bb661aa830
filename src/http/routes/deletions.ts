import { z } from 'zod'
import { deletionExample } from '../../actions/schemas/examples.ts'
import { externalId } from '../../actions/schemas/fields.ts'
import { deletionRecord } from '../../actions/schemas/subject.ts'
import {
  cursor,
  cutPage,
  limit,
  utcTimestamp,
  nextCursor,
  packCursor,
  toStoredTimestamp,
  unpackCursor,
} from './pagination.ts'
import { defineRoute } from './rest-route.ts'

export const listDeletions = defineRoute({
  method: 'GET',
  path: '/v1/deletions',
  name: 'listDeletions',
  summary: 'List the deletion records of the gallery, newest first. They are kept permanently.',
  permission: 'deletions:read',
  query: z.strictObject({
    subjectId: z.guid().optional(),
    externalId: externalId.optional(),
    fromUtc: utcTimestamp.optional(),
    toUtc: utcTimestamp.optional(),
    limit,
    cursor,
  }),
  value: z.object({ items: z.array(deletionRecord), nextCursor }).meta({ id: 'DeletionPage' }),
  example: { items: [deletionExample], nextCursor: null },
  run: async ({ query, caller, services: { gallery } }) => {
    const filter = {
      galleryId: caller.galleryId,
      subjectId: query.subjectId,
      externalId: query.externalId,
      fromUtc: toStoredTimestamp(query.fromUtc),
      toUtc: toStoredTimestamp(query.toUtc),
      before: unpackCursor(query.cursor, z.int()),
      limit: query.limit + 1,
    }
    const found = await gallery.read((reading) => gallery.listDeletions(reading, filter))
    const { page, last } = cutPage(found, query.limit)
    return {
      items: page.map(({ record }) => record),
      nextCursor: last ? packCursor(last.seq) : null,
    }
  },
})
