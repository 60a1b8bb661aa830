import { z } from 'zod'
import { subjectExample } from '../../actions/examples.ts'
import { externalId, groupName } from '../../actions/fields.ts'
import { notFound } from '../../actions/not-found.ts'
import { subject } from '../../actions/subject.ts'
import { isUuid } from '../../lib/ids.ts'
import {
  cursor,
  cut,
  limit,
  moment,
  nextCursor,
  packCursor,
  storedMoment,
  unpackCursor,
} from './page.ts'
import { defineRoute } from './rest.ts'

const include = z
  .literal('faces')
  .optional()
  .meta({ description: '`faces`: the templates’ facts.' })

export const listSubjects = defineRoute({
  method: 'GET',
  path: '/v1/subjects',
  name: 'listSubjects',
  summary: 'List the subjects of the gallery, in the order of their enrolment.',
  permission: 'subjects:read',
  query: z.strictObject({
    externalId: externalId.optional(),
    group: groupName.optional(),
    q: z.string().min(1).max(128).optional().meta({
      description: 'Part of the display name or the external id.',
    }),
    createdFromUtc: moment.optional(),
    createdToUtc: moment.optional(),
    limit,
    cursor,
    include,
  }),
  value: z.object({ items: z.array(subject), nextCursor }).meta({ id: 'SubjectPage' }),
  example: { items: [subjectExample], nextCursor: null },
  run: async ({ query, caller, services: { gallery } }) => {
    const place = unpackCursor(query.cursor, z.tuple([z.string(), z.string()]))
    const filter = {
      galleryId: caller.galleryId,
      externalId: query.externalId,
      group: query.group,
      text: query.q,
      createdFromUtc: storedMoment(query.createdFromUtc),
      createdToUtc: storedMoment(query.createdToUtc),
      after: place && { createdAtUtc: place[0], subjectId: place[1] },
      limit: query.limit + 1,
    }
    return gallery.read(async (reading) => {
      const { page, last } = cut(await gallery.list(reading, filter), query.limit)
      const items = await gallery.describe(reading, page, { faces: query.include === 'faces' })
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
  run: ({ query, parts, caller, services: { gallery } }) =>
    gallery.read(async (reading) => {
      const { subjectId } = parts
      if (!isUuid(subjectId)) return notFound()
      const found = (await gallery.find(reading, caller.galleryId, { subjectId })) ?? notFound()
      return (await gallery.describe(reading, [found], { faces: query.include === 'faces' }))[0]
    }),
})
