import { z } from 'zod'
import type { subject } from '../../../actions/schemas/subject.ts'
import { requireProject } from '../../server/require-project.ts'
import { defineList } from '../../server/define-list.ts'
import { subjectIdQuery } from './subject-ids.ts'
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
  filter: subjectList.filter.extend({ subjectIds: subjectIdQuery.optional() }),
  item: csvItem,
  find: async (call, page) => {
    const { subjectIds, ...query } = call.query
    if (subjectIds === undefined) {
      const found = await subjectList.find({ ...call, query }, page)
      return found.map(({ item, position }) => ({ item: toCsvItem(item), position }))
    }
    // All chosen subjects are in the first page.
    if (page.after) return []
    const { store, subjects } = call.services
    return store.read(async (tx) => {
      const { galleryId } = await requireProject(tx, call)
      const rows = await subjects.findByIds(tx, galleryId, subjectIds)
      const sorted = rows.toSorted((a, b) => (a.createdAtUtc < b.createdAtUtc ? -1 : 1))
      const details = await subjects.loadDetails(tx, sorted)
      return details.map((item) => {
        return { item: toCsvItem(item), position: [item.createdAtUtc, item.subjectId] as const }
      })
    })
  },
})

function toCsvItem({ groups, attributes, ...item }: z.input<typeof subject>) {
  const { faces: _faces, ...columns } = item
  const attributesText = Object.keys(attributes).length === 0 ? '' : JSON.stringify(attributes)
  return { ...columns, groups: groups.join(' '), attributes: attributesText }
}
