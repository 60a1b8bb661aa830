import { z } from 'zod'
import { findProjectSummaries } from '../../store/tenancy/project-summaries.ts'
import { findTransfers, type LedgerTransfer } from '../../store/billing/ledger-transfers.ts'
import { count, id, micros, timeRange } from '../server/schemas.ts'
import { defineList, defineCsv, declareList } from '../server/list.ts'
import { defineRead, noQuery } from '../server/route.ts'

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
    .meta({ description: 'The two sides; they sum to 0.' }),
})

const ledgerList = declareList({
  path: '/money/ledger',
  minimumRole: 'viewer',
  filter: z.strictObject({ projectId: id.optional(), kind: kind.optional(), ...timeRange }),
  item: transfer,
  position: z.tuple([z.int(), z.int()]),
  find: async ({ query, identity: visitor, services: { store } }, { after, limit }) => {
    const { accountId } = visitor
    const { projectId, kind, fromUtc, toUtc } = query
    const times = { fromMs: fromUtc?.getTime(), toMs: toUtc?.getTime() }
    const place = after && { atMs: after[0], transferId: after[1] }
    const filter = { accountId, projectId, kind, ...times, after: place, limit }
    return store.read(async (reading) => {
      const projects = await findProjectSummaries(reading, accountId)
      const names = new Map(projects.map((project) => [project.projectId, project.name]))
      return (await findTransfers(reading, filter)).map((found) => ({
        item: toTransferResponse(found, names.get(found.projectId ?? '')),
        position: [found.atMs, found.transferId] as const,
      }))
    })
  },
})

export const listLedger = defineList(ledgerList)
export const ledgerCsv = defineCsv(ledgerList)

/** A transfer with both its sides. */
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
  query: noQuery,
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

/** The log against the ledger; without a range, of the last 30 days. */
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
  handle: async ({ query, identity: visitor, services: { auditor, clock } }) => {
    const toMs = query.toUtc?.getTime() ?? clock() + 1
    const fromMs = query.fromUtc?.getTime() ?? toMs - 30 * dayMs
    const { accountId } = visitor
    const found = await auditor.reconcile({ accountId, fromMs, toMs })
    const { logMicros, ledgerMicros, billedCalls, charges } = found
    return {
      logMicros: String(logMicros),
      ledgerMicros: String(ledgerMicros),
      billedCalls,
      charges,
      ok: logMicros === ledgerMicros && billedCalls === charges,
    }
  },
})
