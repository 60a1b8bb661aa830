import { z } from 'zod'
import {
  auditKinds,
  countAuditEntries,
  findAuditEntries,
} from '../../../store/console/audit-log.ts'
import { auditActions, describeAuditAction } from '../../server/audit-actions.ts'
import { defineList } from '../../server/define-list.ts'
import { defineRead, type ConsoleContext } from '../../server/console-route.ts'
import { id, resolveTimeRange, timeRange } from '../../server/input.ts'

const auditFilter = z.strictObject({
  userId: id.optional(),
  auditAction: z.string().max(64).optional(),
  kind: z.enum(auditKinds).optional(),
  ...timeRange,
})

export const { pages: listAudit, csv: auditCsv } = defineList({
  path: '/audit',
  filter: auditFilter,
  sortBy: ['time'],
  isDescending: true,
  item: z.object({
    auditId: z.int(),
    atUtc: z.string(),
    userId: z.string().nullable(),
    userName: z.string(),
    auditAction: z.string(),
    description: z.string().meta({ description: 'The audit action in plain words.' }),
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
        description: describeAuditAction(row.auditAction),
        atUtc: new Date(atMs).toISOString(),
        // serve-route.ts stores an object.
        detail: JSON.parse(detail) as Record<string, unknown>,
      },
      position: [atMs, row.auditId] as const,
    }))
  },
  count: (call) => call.services.store.read((tx) => countAuditEntries(tx, entryFilter(call))),
})

function entryFilter(call: ConsoleContext<z.output<typeof auditFilter>>) {
  const { userId, auditAction, kind } = call.query
  const { fromUtc, toUtc } = resolveTimeRange(call.query, call.services.clock())
  const times = { fromMs: fromUtc?.getTime(), toMs: toUtc?.getTime() }
  return { accountId: call.identity.accountId, userId, auditAction, kind, ...times }
}

/** The audit actions that the filter offers. */
export const listAuditActions = defineRead({
  path: '/audit/actions',
  response: z.array(z.object({ auditAction: z.string(), description: z.string() })),
  handle: async () =>
    Object.entries(auditActions).map(([auditAction, description]) => ({
      auditAction,
      description,
    })),
})
