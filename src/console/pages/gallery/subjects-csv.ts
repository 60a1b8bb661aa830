import { z } from 'zod'
import { defineList } from '../../server/define-list.ts'
import { subjectList } from './subjects.ts'

/** The columns of the file. An import reads the first six. */
const csvItem = z.object({
  subjectId: z.string(),
  externalId: z.string().nullable(),
  displayName: z.string().nullable(),
  groups: z.string(),
  attributes: z.string(),
  expiresAtUtc: z.string().nullable(),
  embeddingCount: z.int(),
  createdAtUtc: z.string(),
  updatedAtUtc: z.string(),
})

export const { csv: subjectsCsv } = defineList({
  ...subjectList,
  item: csvItem,
  find: async (call, page) => {
    const found = await subjectList.find(call, page)
    return found.map(({ item, position }) => ({ item: item && toCsvItem(item), position }))
  },
})

function toCsvItem({ groups, attributes, ...item }: z.input<typeof subjectList.item>) {
  const { faces: _faces, ...columns } = item
  const attributesText = Object.keys(attributes).length === 0 ? '' : JSON.stringify(attributes)
  return { ...columns, groups: groups.join(' '), attributes: attributesText }
}
