import { z } from 'zod'
import examples from '../../actions/schemas/examples.json' with { type: 'json' }
import { groupName } from '../../actions/schemas/fields.ts'
import { deletionRecord } from '../../actions/schemas/subject.ts'
import { ActionError } from '../../lib/errors.ts'
import { cursor, cutPage, limit, nextCursor, packCursor, unpackCursor } from './pagination.ts'
import { defineRoute } from './rest-route.ts'
import texts from '../../actions/schemas/field-texts.json' with { type: 'json' }

const group = z.object({ name: z.string(), subjectCount: z.int().min(1) }).meta({ id: 'Group' })

export const listGroups = defineRoute('GET', '/v1/groups', {
  name: 'listGroups',
  summary: 'List the groups of the gallery by name. A group has at least one subject.',
  permission: 'subjects:read',
  query: z.strictObject({ limit, cursor }),
  value: z.object({ items: z.array(group), nextCursor }).meta({ id: 'GroupPage' }),
  example: { items: [{ name: 'staff', subjectCount: 120 }], nextCursor: null },
  run: async ({ query, caller: { galleryId }, services: { subjects } }) => {
    const filter = { after: unpackCursor(query.cursor, z.string()), limit: query.limit + 1 }
    const found = await subjects.listGroups(galleryId, filter)
    const { page: items, last } = cutPage(found, query.limit)
    return { items, nextCursor: last ? packCursor(last.name) : null }
  },
})

export const renameGroup = defineRoute('POST', '/v1/groups/:name/rename', {
  name: 'renameGroup',
  summary: 'Rename a group, with its subjects. The new name must not be in use.',
  permission: 'svc.updateSubject',
  pathParams: z.object({ name: groupName }),
  query: z.strictObject({}),
  body: z.strictObject({ name: groupName }).meta({ id: 'GroupName' }),
  value: group,
  example: { name: 'employees', subjectCount: 120 },
  run: ({ pathParams: { name }, body, caller: { galleryId }, services: { maintenance } }) =>
    maintenance.renameGroup({ galleryId, name, newName: body.name }),
})

export const deleteGroup = defineRoute('DELETE', '/v1/groups/:name', {
  name: 'deleteGroup',
  summary: 'Permanently delete every subject of a group.',
  permission: 'groups:delete',
  pathParams: z.object({ name: groupName }),
  query: z.strictObject({
    dryRun: z.enum(['true', 'false']).default('false').describe(texts.groups.queryDryRun),
  }),
  value: z
    .object({
      group: z.string(),
      dryRun: z.literal(true).optional().describe(texts.groups.valueDryRun),
      deletedCount: z.int().min(0).describe(texts.groups.deletedCount),
      records: z.array(deletionRecord).describe(texts.groups.records),
      hasMore: z.literal(true).optional().describe(texts.groups.hasMore),
    })
    .meta({ id: 'GroupDeletion' }),
  example: { group: 'staff', deletedCount: 1, records: [examples['svc.deleteSubject'].value] },
  run: async ({ query, pathParams, caller, services: { subjects, maintenance } }) => {
    const { galleryId } = caller
    const { name: group } = pathParams
    const [found] = await subjects.listGroups(galleryId, { name: group })
    if (!found) throw new ActionError('GROUP_NOT_FOUND', 'There is no such group in the gallery.')
    if (query.dryRun === 'true')
      return { group, dryRun: true as const, deletedCount: found.subjectCount, records: [] }
    const { records, hasMore } = await maintenance.removeGroup(galleryId, group)
    return { group, deletedCount: records.length, records, ...(hasMore && { hasMore }) }
  },
})
