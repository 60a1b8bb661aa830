import { z } from 'zod'
import { subjectNotFound } from '../../actions/parts/action-errors.ts'
import examples from '../../actions/schemas/examples.json' with { type: 'json' }
import { externalId, groupName, subjectId, utcTime, uuid } from '../../actions/schemas/fields.ts'
import { deletionRecord, subject } from '../../actions/schemas/subject.ts'
import {
  cursor,
  cutPage,
  limit,
  nextCursor,
  packCursor,
  toStoredTimestamp,
  toTotal,
  total,
  totalFields,
  unpackCursor,
} from './pagination.ts'
import { defineRoute } from './rest-route.ts'
import texts from '../../actions/schemas/field-texts.json' with { type: 'json' }

const include = z.literal('faces').optional().describe(texts.subjects.include)

export const listSubjects = defineRoute('GET', '/v1/subjects', {
  name: 'listSubjects',
  summary: 'List the subjects of the gallery, by default in the order of enrollment.',
  permission: 'subjects:read',
  query: z.strictObject({
    externalId: externalId.optional(),
    group: groupName.optional(),
    q: z.string().min(1).max(128).optional().describe(texts.subjects.q),
    createdFromUtc: utcTime.optional(),
    createdToUtc: utcTime.optional(),
    attribute: z
      .string()
      .max(385)
      .regex(
        /^[^=]{1,128}=[\s\S]{0,256}$/u,
        'must be name=value, with a name of 1 to 128 characters',
      )
      .optional()
      .describe(texts.subjects.attribute),
    sort: z
      .enum(['created', '-created', 'updated', '-updated'])
      .default('created')
      .describe(texts.subjects.subjectsSort),
    total,
    limit,
    cursor,
    include,
  }),
  value: z
    .object({ items: z.array(subject), nextCursor, ...totalFields })
    .meta({ id: 'SubjectPage' }),
  example: { items: [examples['svc.updateSubject'].value], nextCursor: null },
  run: async ({ query, caller, signal, services: { subjects } }) => {
    const sort = sortOf(query.sort)
    const position = unpackCursor(query.cursor, cursorSchemas[query.sort])
    const filter = {
      galleryId: caller.galleryId,
      externalId: query.externalId,
      group: query.group,
      text: query.q,
      createdFromUtc: toStoredTimestamp(query.createdFromUtc),
      createdToUtc: toStoredTimestamp(query.createdToUtc),
      attribute: attributeOf(query.attribute),
      sort,
      after: position && { value: position[0], subjectId: position[1] },
      limit: query.limit + 1,
      signal,
    }
    const counted = query.total === 'true' && toTotal(await subjects.count(filter))
    const found = await subjects.list(filter, (reading, rows) =>
      subjects.loadDetails(reading, rows, { faces: query.include === 'faces' }),
    )
    const { page, last } = cutPage(found, query.limit)
    const items = page.flatMap(({ subject }) => subject ?? [])
    const end = last && [last.position.value, last.position.subjectId]
    const suffix = query.sort === 'created' ? [] : [query.sort]
    return { items, nextCursor: end ? packCursor([...end, ...suffix]) : null, ...counted }
  },
})

/** The position of a page. It contains the order, except the default one: another order is refused. */
const cursorSchemas = {
  created: z.tuple([z.string(), z.string()]),
  '-created': z.tuple([z.string(), z.string(), z.literal('-created')]),
  updated: z.tuple([z.string(), z.string(), z.literal('updated')]),
  '-updated': z.tuple([z.string(), z.string(), z.literal('-updated')]),
}

function sortOf(sort: keyof typeof cursorSchemas) {
  const by = sort.endsWith('updated') ? ('updatedAtUtc' as const) : ('createdAtUtc' as const)
  return { by, isDescending: sort.startsWith('-') }
}

function attributeOf(text: string | undefined) {
  if (text === undefined) return undefined
  const end = text.indexOf('=')
  return { name: text.slice(0, end), value: text.slice(end + 1) }
}

export const getSubject = defineRoute('GET', '/v1/subjects/:subjectId', {
  name: 'getSubject',
  summary: 'Show one subject.',
  permission: 'subjects:read',
  pathParams: z.object({ subjectId }),
  query: z.strictObject({ include }),
  value: subject,
  example: examples['svc.updateSubject'].value,
  run: ({ query, pathParams, caller, services: { subjects } }) =>
    subjects.read(async (reading) => {
      const found =
        (await subjects.find(reading, caller.galleryId, pathParams)) ?? subjectNotFound()
      return (await subjects.loadDetails(reading, [found], { faces: query.include === 'faces' }))[0]
    }),
})

/** The position of a page. It contains the order, except the default one: another order is refused. */
const deletionCursors = {
  '-deleted': z.tuple([z.string(), z.int()]),
  deleted: z.tuple([z.string(), z.int(), z.literal('deleted')]),
}

export const listDeletions = defineRoute('GET', '/v1/deletions', {
  name: 'listDeletions',
  summary:
    'List the deletion records of the gallery, by default newest first. They are kept permanently.',
  permission: 'deletions:read',
  query: z.strictObject({
    subjectId: uuid.optional(),
    externalId: externalId.optional(),
    visitors: z.enum(['true', 'false']).default('false').describe(texts.subjects.visitors),
    fromUtc: utcTime.optional(),
    toUtc: utcTime.optional(),
    sort: z
      .enum(['deleted', '-deleted'])
      .default('-deleted')
      .describe(texts.subjects.deletionsSort),
    total,
    limit,
    cursor,
  }),
  value: z
    .object({ items: z.array(deletionRecord), nextCursor, ...totalFields })
    .meta({ id: 'DeletionPage' }),
  example: { items: [examples['svc.deleteSubject'].value], nextCursor: null },
  run: async ({ query, caller, services: { subjects, maintenance, visitors } }) => {
    const { galleryId } = caller
    const isAscending = query.sort === 'deleted'
    const position = unpackCursor(query.cursor, deletionCursors[query.sort])
    const conditions = {
      galleryId: query.visitors === 'true' ? visitors.galleryIdOf(galleryId) : galleryId,
      subjectId: query.subjectId,
      externalId: query.externalId,
      fromUtc: toStoredTimestamp(query.fromUtc),
      toUtc: toStoredTimestamp(query.toUtc),
    }
    const after = position && ([position[0], position[1]] as const)
    const filter = { ...conditions, isAscending, after, limit: query.limit + 1 }
    const { found, counted } = await subjects.read(async (reading) => ({
      found: await maintenance.listDeletions(reading, filter),
      counted:
        query.total === 'true' && toTotal(await maintenance.countDeletions(reading, conditions)),
    }))
    const { page, last } = cutPage(found, query.limit)
    return {
      items: page.map(({ record }) => record),
      nextCursor: last
        ? packCursor([...last.position, ...(isAscending ? [query.sort] : [])])
        : null,
      ...counted,
    }
  },
})
