import { z } from 'zod'
import { findProjectSummaries } from '../../../store/tenancy/project-summaries.ts'
import { findTransfers, type LedgerTransfer } from '../../../store/billing/ledger-transfers.ts'
import { count, id, micros, timeRange } from '../../server/schemas.ts'
import { defineList, defineCsv, declareList } from '../../server/list.ts'
import { defineRead, emptyQuery } from '../../server/route.ts'

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

const ledgerList = declareList({
  path: '/money/ledger',
  minimumRole: 'viewer',
  filter: z.strictObject({ projectId: id.optional(), kind: kind.optional(), ...timeRange }),
  item: transfer,
  position: z.tuple([z.int(), z.int()]),
  find: async ({ query, identity, services: { store } }, { after, limit }) => {
    const { accountId } = identity
    const { projectId, kind, fromUtc, toUtc } = query
    const times = { fromMs: fromUtc?.getTime(), toMs: toUtc?.getTime() }
    const position = after && { atMs: after[0], transferId: after[1] }
    const filter = { accountId, projectId, kind, ...times, after: position, limit }
    return store.read(async (tx) => {
      const projects = await findProjectSummaries(tx, accountId)
      const names = new Map(projects.map((project) => [project.projectId, project.name]))
      return (await findTransfers(tx, filter)).map((row) => ({
        item: toTransferResponse(row, names.get(row.projectId ?? '')),
        position: [row.atMs, row.transferId] as const,
      }))
    })
  },
})

export const listLedger = defineList(ledgerList)
export const ledgerCsv = defineCsv(ledgerList)

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

export const verifyLedger = defineRead({
  path: '/money/verify',
  minimumRole: 'viewer',
  query: emptyQuery,
  response: z.object({
    ok: z.boolean(),
    checks: z.array(z.object({ name: z.string(), ok: z.boolean(), detail: z.string() })),
  }),
  handle: async ({ services: { auditor } }) => {
    const checks = await auditor.audit()
    return { ok: checks.every(({ ok }) => ok), checks: [...checks] }
  },
})

const dayMs = 86_400_000

/** Compares the request log with the ledger; without a range, for the last 30 days. */
export const reconcileLedger = defineRead({
  path: '/money/reconcile',
  minimumRole: 'viewer',
  query: z.strictObject(timeRange),
  response: z.object({
    logMicros: micros,
    ledgerMicros: micros,
    billedCalls: count,
    charges: count,
    ok: z.boolean(),
  }),
  handle: async ({ query, identity, services: { auditor, clock } }) => {
    const toMs = query.toUtc?.getTime() ?? clock() + 1
    const fromMs = query.fromUtc?.getTime() ?? toMs - 30 * dayMs
    const { accountId } = identity
    const totals = await auditor.reconcile({ accountId, fromMs, toMs })
    const { logMicros, ledgerMicros, billedCalls, charges } = totals
    return {
      logMicros: String(logMicros),
      ledgerMicros: String(ledgerMicros),
      billedCalls,
      charges,
      ok: logMicros === ledgerMicros && billedCalls === charges,
    }
  },
})
