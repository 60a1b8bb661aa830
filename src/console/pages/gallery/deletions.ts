import { z } from 'zod'
import { externalId } from '../../../actions/schemas/fields.ts'
import { deletionRecord } from '../../../actions/schemas/subject.ts'
import { id, timeRange } from '../../server/schemas.ts'
import { defineList, defineCsv, declareList } from '../../server/list.ts'
import { defineRead, emptyQuery } from '../../server/route.ts'
import { requireProject } from '../../server/require-project.ts'

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
  find: async (call, { after, limit }) => {
    const { fromUtc, toUtc, ...ids } = call.query
    const { store, gallery } = call.services
    const times = { fromUtc: fromUtc?.toISOString(), toUtc: toUtc?.toISOString() }
    return store.read(async (tx) => {
      const { galleryId } = await requireProject(tx, call)
      const deletions = await gallery.listDeletions(tx, {
        galleryId,
        ...ids,
        ...times,
        after,
        limit,
      })
      return deletions.map(({ seq, record }) => ({ item: record, position: seq }))
    })
  },
})

export const listDeletions = defineList(deletionList)
export const deletionsCsv = defineCsv(deletionList)

/** Checks that the deletion records are unchanged: their hash chain and the triggers that protect them. */
export const checkDeletions = defineRead({
  path: '/projects/:projectId/deletions/check',
  minimumRole: 'viewer',
  query: emptyQuery,
  response: z.object({ ok: z.boolean(), detail: z.string() }),
  handle: async (call) => {
    await call.services.store.read((tx) => requireProject(tx, call))
    const checks = await call.services.auditor.audit()
    // L6: the triggers that reject changes to records. L7: the hash chains.
    const failed = checks.filter(({ name, ok }) => ['L6', 'L7'].includes(name) && !ok)
    const detail = failed.map((check) => check.detail).join('; ')
    return { ok: failed.length === 0, detail: detail || 'All records match the hash chain.' }
  },
})
