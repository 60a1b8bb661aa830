import { z } from 'zod'
import { subjectExample } from '../../actions/schemas/examples.ts'
import { externalId, groupName } from '../../actions/schemas/fields.ts'
import { subjectNotFound } from '../../actions/parts/action-errors.ts'
import { subject } from '../../actions/schemas/subject.ts'
import { isUuid } from '../../lib/ids.ts'
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

const include = z
  .literal('faces')
  .optional()
  .meta({ description: '`faces` adds the details of the templates.' })

export const listSubjects = defineRoute({
  method: 'GET',
  path: '/v1/subjects',
  name: 'listSubjects',
  summary: 'List the subjects of the gallery, in the order of enrollment.',
  permission: 'subjects:read',
  query: z.strictObject({
    externalId: externalId.optional(),
    group: groupName.optional(),
    q: z.string().min(1).max(128).optional().meta({
      description:
        'A part of the display name or of the external id. Case and accents are ignored: `muller` finds `Müller`.',
    }),
    createdFromUtc: utcTimestamp.optional(),
    createdToUtc: utcTimestamp.optional(),
    limit,
    cursor,
    include,
  }),
  value: z.object({ items: z.array(subject), nextCursor }).meta({ id: 'SubjectPage' }),
  example: { items: [subjectExample], nextCursor: null },
  run: async ({ query, caller, services: { gallery } }) => {
    const position = unpackCursor(query.cursor, z.tuple([z.string(), z.string()]))
    const filter = {
      galleryId: caller.galleryId,
      externalId: query.externalId,
      group: query.group,
      text: query.q,
      createdFromUtc: toStoredTimestamp(query.createdFromUtc),
      createdToUtc: toStoredTimestamp(query.createdToUtc),
      after: position && { createdAtUtc: position[0], subjectId: position[1] },
      limit: query.limit + 1,
    }
    return gallery.readSubjects(filter, async (reading, subjects) => {
      const { page, last } = cutPage(subjects, query.limit)
      const items = await gallery.loadSubjectDetails(reading, page, {
        faces: query.include === 'faces',
      })
      return { items, nextCursor: last ? packCursor([last.createdAtUtc, last.subjectId]) : null }
    })
  },
})

export const getSubject = defineRoute({
  method: 'GET',
  path: '/v1/subjects/:subjectId',
  name: 'getSubject',
  summary: 'Show one subject.',
  permission: 'subjects:read',
  query: z.strictObject({ include }),
  value: subject,
  example: subjectExample,
  run: ({ query, pathParams, caller, services: { gallery } }) =>
    gallery.read(async (reading) => {
      const { subjectId } = pathParams
      if (!isUuid(subjectId)) return subjectNotFound()
      const found =
        (await gallery.find(reading, caller.galleryId, { subjectId })) ?? subjectNotFound()
      return (
        await gallery.loadSubjectDetails(reading, [found], { faces: query.include === 'faces' })
      )[0]
    }),
})
