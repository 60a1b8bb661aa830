import { z } from 'zod'
import { externalId } from '../../actions/schemas/fields.ts'
import { deletionRecord } from '../../actions/schemas/subject.ts'
import { id, timeRange } from '../server/schemas.ts'
import { defineList, defineCsv, declareList } from '../server/list.ts'
import { defineRead, noQuery } from '../server/route.ts'
import { requireProject } from '../server/require-project.ts'

const deletionList = declareList({
  path: '/projects/:projectId/deletions',
  minimumRole: 'viewer',
  filter: z.strictObject({
    subjectId: id.optional(),
    externalId: externalId.optional(),
    ...timeRange,
  }),
  item: deletionRecord,
  position: z.int(),
  find: async (call, { after: before, limit }) => {
    const { fromUtc, toUtc, ...ids } = call.query
    const { store, gallery } = call.services
    const times = { fromUtc: fromUtc?.toISOString(), toUtc: toUtc?.toISOString() }
    return store.read(async (reading) => {
      const { galleryId } = await requireProject(reading, call)
      const found = await gallery.listDeletions(reading, {
        galleryId,
        ...ids,
        ...times,
        before,
        limit,
      })
      return found.map(({ seq, record }) => ({ item: record, position: seq }))
    })
  },
})

export const listDeletions = defineList(deletionList)
export const deletionsCsv = defineCsv(deletionList)

/** Whether the chain of records is whole and nobody could have changed one. */
export const checkDeletions = defineRead({
  path: '/projects/:projectId/deletions/check',
  minimumRole: 'viewer',
  query: noQuery,
  response: z.object({ ok: z.boolean(), detail: z.string() }),
  handle: async (call) => {
    await call.services.store.read((reading) => requireProject(reading, call))
    const checks = await call.services.auditor.audit()
    // L6: the triggers that keep records as they are. L7: the hash chains.
    const broken = checks.filter(({ name, ok }) => ['L6', 'L7'].includes(name) && !ok)
    const detail = broken.map((check) => check.detail).join('; ')
    return { ok: broken.length === 0, detail: detail || 'Every record fits the hash chain.' }
  },
})
