import { z } from 'zod'
import { findProjectNames } from '../../../store/tenancy/project-summaries.ts'
import {
  countTransfers,
  findTransfers,
  type LedgerTransfer,
} from '../../../store/billing/ledger-transfers.ts'
import { count, id, micros, timeRange } from '../../server/input.ts'
import { defineList, listFilter } from '../../server/define-list.ts'
import { defineRead } from '../../server/console-route.ts'
import { dayMs } from '../../../lib/clock.ts'

const kind = z.enum(['topUp', 'allocate', 'charge'])

export const transfer = z.object({
  transferId: z.int(),
  atUtc: z.string(),
  kind,
  fromLedger: z.string(),
  toLedger: z.string(),
  amountMicros: micros,
  projectId: z.string().nullable(),
  projectName: z.string().nullable(),
  requestId: z.string().nullable(),
  callId: z.int().nullable(),
  postings: z
    .array(z.object({ ledger: z.string(), amountMicros: micros }))
    .meta({ description: 'Both sides of the transfer; they sum to 0.' }),
})

export const { pages: listLedger, csv: ledgerCsv } = defineList({
  path: '/money/ledger',
  filter: z.strictObject({ projectId: id.optional(), kind: kind.optional(), ...timeRange }),
  item: transfer,
  sortBy: ['time'],
  isDescending: true,
  position: z.object({ atMs: z.int(), transferId: z.int() }),
  find: async (call, { after, limit, sort }) => {
    const filter = { ...listFilter(call), isAscending: !sort.isDescending, after, limit }
    const { store } = call.services
    const transfers = await findTransfers(store, filter)
    const projects = await store.read((tx) => findProjectNames(tx, filter.accountId))
    const names = new Map(projects.map((project) => [project.projectId, project.name]))
    return transfers.map((row) => ({
      item: toTransferResponse(row, names.get(row.projectId ?? '')),
      position: { atMs: row.atMs, transferId: row.transferId },
    }))
  },
  count: (call) => countTransfers(call.services.store, listFilter(call)),
})

/** Returns a transfer with its two postings. */
export function toTransferResponse(
  { atMs, amountMicros, ...row }: LedgerTransfer,
  projectName: string | undefined,
): z.input<typeof transfer> {
  const { fromLedger, toLedger } = row
  return {
    ...row,
    atUtc: new Date(atMs).toISOString(),
    amountMicros: String(amountMicros),
    projectName: projectName ?? null,
    postings: [
      { ledger: fromLedger, amountMicros: String(-amountMicros) },
      { ledger: toLedger, amountMicros: String(amountMicros) },
    ],
  }
}

export const verifyLedger = defineRead('/money/verify', {
  response: z.object({
    ok: z.boolean(),
    checks: z.array(z.object({ name: z.string(), ok: z.boolean(), detail: z.string() })),
  }),
  handle: async ({ services: { auditor } }) => {
    const checks = await auditor.audit()
    return { ok: checks.every(({ ok }) => ok), checks }
  },
})

/** Compares the request log with the ledger; without a range, for the last 30 days. */
export const reconcileLedger = defineRead('/money/reconcile', {
  query: z.strictObject({ projectId: id.optional(), ...timeRange }),
  response: z.object({
    logMicros: micros,
    ledgerMicros: micros,
    billedCalls: count,
    charges: count,
    ok: z.boolean(),
  }),
  handle: async (call) => {
    const { auditor, clock } = call.services
    const { toMs = clock() + 1, fromMs = toMs - 30 * dayMs, ...filter } = listFilter(call)
    const totals = await auditor.reconcile({ ...filter, fromMs, toMs })
    const { logMicros, ledgerMicros, billedCalls, charges } = totals
    return {
      ...totals,
      logMicros: String(logMicros),
      ledgerMicros: String(ledgerMicros),
      ok: logMicros === ledgerMicros && billedCalls === charges,
    }
  },
})
