import { z } from 'zod'
import {
  addHistogram,
  createLatencyHistogram,
  latencyPercentileMs,
} from '../../lib/observability/latency-histogram.ts'
import { findAccountBalances } from '../../store/billing/balances.ts'
import { countCalls, findLatencies } from '../../store/console/call-charts.ts'
import {
  findGallerySummaries,
  findProjectSummaries,
} from '../../store/tenancy/project-summaries.ts'
import { walletLedger } from '../../store/tenancy/projects.ts'
import { findAlerts } from './alerts.ts'
import { createTimeBuckets } from './time-buckets.ts'
import { count, id, micros } from '../server/schemas.ts'
import { defineRead, type ConsoleContext } from '../server/route.ts'

const dayMs = 86_400_000
const errorsShown = 5

const budget = z.object({
  projectId: z.string(),
  name: z.string(),
  balanceMicros: micros,
  reservedMicros: micros,
  allocatedMicros: micros,
})

/** The last day by the hour, or the last days by the day, UTC; the running one is part of it. */
export const getOverview = defineRead({
  path: '/overview',
  minimumRole: 'viewer',
  query: z.strictObject({
    projectId: id.optional(),
    days: z.enum(['1', '7', '30']).default('1'),
  }),
  response: z.object({
    calls: count,
    okShare: z.number().nullable(),
    p50Ms: z.number().nullable(),
    p95Ms: z.number().nullable(),
    spentMicros: micros,
    billed: count,
    budgets: z.array(budget),
    walletMicros: micros,
    topErrors: z.array(z.object({ code: z.string(), count })),
    galleries: z.array(
      z.object({ galleryId: z.string(), name: z.string(), subjects: count, templates: count }),
    ),
    series: z.array(z.object({ atUtc: z.string(), calls: count, errors: count })),
    alerts: z.array(
      z.object({
        kind: z.string(),
        severity: z.enum(['info', 'warning', 'critical']),
        text: z.string(),
        projectId: z.string().optional(),
        keyId: z.string().optional(),
      }),
    ),
  }),
  handle: async (call) => {
    const { identity: visitor, services } = call
    const { accountId } = visitor
    const { disk } = await services.readSystem()
    const balances = await findAccountBalances(services.store.db, accountId)
    const wallet = balances.find(({ ledger }) => ledger === walletLedger(accountId))
    return services.store.read(async (reading) => {
      const projects = await findProjectSummaries(reading, accountId)
      const galleries = await findGallerySummaries(reading, accountId)
      return {
        ...(await summarizeTraffic(reading, call)),
        budgets: projects.map(({ projectId, name, ...facts }) => ({
          projectId,
          name,
          balanceMicros: String(facts.balanceMicros),
          reservedMicros: String(facts.reservedMicros),
          allocatedMicros: String(facts.allocatedMicros),
        })),
        walletMicros: String(wallet?.balanceMicros ?? 0n),
        galleries: galleries.map(({ galleryId, projectName, subjectCount, templateCount }) => ({
          galleryId,
          name: projectName ?? 'shared',
          subjects: subjectCount,
          templates: templateCount,
        })),
        alerts: await findAlerts(reading, { accountId, projects, disk, nowMs: services.clock() }),
      }
    })
  },
})

type OverviewContext = ConsoleContext<{
  readonly projectId?: string | undefined
  readonly days: string
}>

async function summarizeTraffic(
  reading: Parameters<typeof countCalls>[0],
  { query, identity: visitor, services }: OverviewContext,
) {
  const nowMs = services.clock()
  const days = Number(query.days)
  const steps = createTimeBuckets(
    days === 1 ? {} : { fromUtc: new Date(nowMs - (days - 1) * dayMs), bucket: 'day' },
    nowMs,
  )
  const chosen = { ...steps, accountId: visitor.accountId, projectId: query.projectId }
  const rows = await countCalls(reading, chosen, { by: 'code', stepMs: steps.stepMs })
  const series = steps.buckets.map((atUtc) => ({ atUtc, calls: 0, errors: 0 }))
  const codes = new Map<string, number>()
  for (const { atMs, id: code, calls } of rows) {
    const point = series[steps.indexOf(atMs)]
    if (point) point.calls += calls
    if (code === 'OK') continue
    if (point) point.errors += calls
    codes.set(code, (codes.get(code) ?? 0) + calls)
  }
  const latencies = createLatencyHistogram()
  for (const step of (await findLatencies(reading, chosen, dayMs)).values())
    addHistogram(latencies, step)
  const calls = rows.reduce((sum, row) => sum + row.calls, 0)
  const errors = [...codes].sort(([, a], [, b]) => b - a)
  const failed = errors.reduce((sum, [, times]) => sum + times, 0)
  return {
    calls,
    okShare: calls === 0 ? null : (calls - failed) / calls,
    p50Ms: latencyPercentileMs(latencies, 0.5),
    p95Ms: latencyPercentileMs(latencies, 0.95),
    spentMicros: String(rows.reduce((sum, row) => sum + row.costMicros, 0n)),
    billed: rows.reduce((sum, row) => sum + row.billed, 0),
    topErrors: errors.slice(0, errorsShown).map(([code, times]) => ({ code, count: times })),
    series,
  }
}
