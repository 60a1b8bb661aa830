import { z } from 'zod'
import {
  auditKinds,
  countAuditEntries,
  searchAuditEntries,
} from '../../../store/console/audit-log.ts'
import { auditActions, describeAuditAction } from '../../server/audit-actions.ts'
import { defineList, listFilter } from '../../server/define-list.ts'
import { defineRead } from '../../server/console-route.ts'
import { id, timeRange } from '../../server/input.ts'

export const { pages: listAudit, csv: auditCsv } = defineList({
  path: '/audit',
  filter: z.strictObject({
    userId: id.optional(),
    auditAction: z.string().max(64).optional(),
    kind: z.enum(auditKinds).optional(),
    ...timeRange,
  }),
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
  position: z.object({ atMs: z.int(), auditId: z.int() }),
  find: async (call, { after, limit, sort }) => {
    const filter = { ...listFilter(call), isAscending: !sort.isDescending, after, limit }
    const rows = await searchAuditEntries(call.services.store, filter)
    return rows.map(({ accountId: _accountId, atMs, detail, ...row }) => ({
      item: {
        ...row,
        description: describeAuditAction(row.auditAction),
        atUtc: new Date(atMs).toISOString(),
        // serve-route.ts stores an object.
        detail: JSON.parse(detail) as Record<string, unknown>,
      },
      position: { atMs, auditId: row.auditId },
    }))
  },
  count: (call) => countAuditEntries(call.services.store, listFilter(call)),
})

/** The audit actions that the filter offers. */
export const listAuditActions = defineRead('/audit/actions', {
  response: z.array(z.object({ auditAction: z.string(), description: z.string() })),
  handle: async () =>
    Object.entries(auditActions).map(([auditAction, description]) => ({
      auditAction,
      description,
    })),
})
