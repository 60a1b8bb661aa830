import { z } from 'zod'
import { countAuditEntries, findAuditEntries } from '../../../store/console/audit-log.ts'
import { auditActs, describeAct } from '../../server/audit-acts.ts'
import { defineList } from '../../server/list.ts'
import { defineRead, type ConsoleContext } from '../../server/route.ts'
import { id, resolveTimeRange, timeRange } from '../../server/schemas.ts'

const auditFilter = z.strictObject({
  userId: id.optional(),
  act: z.string().max(64).optional(),
  kind: z.enum(['changes', 'playground', 'commandLine']).optional(),
  ...timeRange,
})

export const { pages: listAudit, csv: auditCsv } = defineList({
  path: '/audit',
  minimumRole: 'viewer',
  filter: auditFilter,
  sortBy: ['time'],
  isDescending: true,
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
  find: async (call, { after, limit, sort }) => {
    const position = after && { atMs: after[0], auditId: after[1] }
    const order = { isAscending: !sort.isDescending, after: position, limit }
    const filter = { ...entryFilter(call), ...order }
    const rows = await call.services.store.read((tx) => findAuditEntries(tx, filter))
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
  count: (call) => call.services.store.read((tx) => countAuditEntries(tx, entryFilter(call))),
})

function entryFilter(call: ConsoleContext<z.output<typeof auditFilter>>) {
  const { userId, act, kind } = call.query
  const { fromUtc, toUtc } = resolveTimeRange(call.query, call.services.clock())
  const times = { fromMs: fromUtc?.getTime(), toMs: toUtc?.getTime() }
  return { accountId: call.identity.accountId, userId, act, kind, ...times }
}

/** The acts of the filter, in plain words. */
export const listAuditActs = defineRead({
  path: '/audit/acts',
  minimumRole: 'viewer',
  response: z.array(z.object({ act: z.string(), action: z.string() })),
  handle: async () => Object.entries(auditActs).map(([act, action]) => ({ act, action })),
})
