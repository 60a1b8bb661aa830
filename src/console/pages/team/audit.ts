import { z } from 'zod'
import { findAuditEntries } from '../../../store/console/audit-log.ts'
import { auditActs, describeAct } from '../../server/audit-acts.ts'
import { defineList, defineCsv, declareList } from '../../server/list.ts'
import { defineRead, emptyQuery } from '../../server/route.ts'
import { id, timeRange } from '../../server/schemas.ts'

const auditList = declareList({
  path: '/audit',
  minimumRole: 'viewer',
  filter: z.strictObject({
    userId: id.optional(),
    act: z.string().max(64).optional(),
    kind: z.enum(['changes', 'playground', 'commandLine']).optional(),
    ...timeRange,
  }),
  item: z.object({
    auditId: z.int(),
    atUtc: z.string(),
    userId: z.string().nullable(),
    userName: z.string(),
    act: z.string(),
    action: z.string().meta({ description: 'The act in plain words.' }),
    target: z.string(),
    detail: z.record(z.string(), z.unknown()),
    ip: z.string(),
  }),
  position: z.tuple([z.int(), z.int()]),
  find: async ({ query, identity, services: { store } }, { after, limit }) => {
    const { accountId } = identity
    const { userId, act, kind, fromUtc, toUtc } = query
    const times = { fromMs: fromUtc?.getTime(), toMs: toUtc?.getTime() }
    const position = after && { atMs: after[0], auditId: after[1] }
    const filter = { accountId, userId, act, kind, ...times, after: position, limit }
    const rows = await store.read((tx) => findAuditEntries(tx, filter))
    return rows.map(({ accountId: _accountId, atMs, detail, ...row }) => ({
      item: {
        ...row,
        action: describeAct(row.act),
        atUtc: new Date(atMs).toISOString(),
        // execute-write.ts stores an object.
        detail: JSON.parse(detail) as Record<string, unknown>,
      },
      position: [atMs, row.auditId] as const,
    }))
  },
})

export const listAudit = defineList(auditList)
/** The acts of the filter, in plain words. */
export const listAuditActs = defineRead({
  path: '/audit/acts',
  minimumRole: 'viewer',
  query: emptyQuery,
  response: z.array(z.object({ act: z.string(), action: z.string() })),
  handle: async () => Object.entries(auditActs).map(([act, action]) => ({ act, action })),
})

export const auditCsv = defineCsv(auditList)
