import { z } from 'zod'
import { externalId } from '../actions/fields.ts'
import { deletionRecord } from '../actions/subject.ts'
import { id, range } from './fields.ts'
import { defineList, defineSheet, describeList } from './list.ts'
import { defineRead, noQuery } from './route.ts'
import { theProject } from './the-project.ts'

const deletions = describeList({
  path: '/projects/:projectId/deletions',
  who: 'viewer',
  filter: z.strictObject({
    subjectId: id.optional(),
    externalId: externalId.optional(),
    ...range,
  }),
  item: deletionRecord,
  place: z.int(),
  find: async (call, { after: before, limit }) => {
    const { fromUtc, toUtc, ...ids } = call.query
    const { store, gallery } = call.services
    const times = { fromUtc: fromUtc?.toISOString(), toUtc: toUtc?.toISOString() }
    return store.read(async (reading) => {
      const { galleryId } = await theProject(reading, call)
      const found = await gallery.listDeletions(reading, {
        galleryId,
        ...ids,
        ...times,
        before,
        limit,
      })
      return found.map(({ seq, record }) => ({ item: record, place: seq }))
    })
  },
})

export const listDeletions = defineList(deletions)
export const deletionsSheet = defineSheet(deletions)

/** Whether the chain of records is whole and nobody could have changed one. */
export const checkDeletions = defineRead({
  path: '/projects/:projectId/deletions/check',
  who: 'viewer',
  query: noQuery,
  answer: z.object({ ok: z.boolean(), detail: z.string() }),
  handle: async (call) => {
    await call.services.store.read((reading) => theProject(reading, call))
    const checks = await call.services.auditor.verify()
    // L6: the triggers that keep records as they are. L7: the hash chains.
    const broken = checks.filter(({ name, ok }) => ['L6', 'L7'].includes(name) && !ok)
    const detail = broken.map((check) => check.detail).join('; ')
    return { ok: broken.length === 0, detail: detail || 'Every record fits the hash chain.' }
  },
})
