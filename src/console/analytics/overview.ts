import { z } from 'zod'
import {
  addHistogram,
  createLatencyHistogram,
  latencyPercentileMs,
} from '../../lib/observability/latency-histogram.ts'
import { HttpError } from '../../lib/errors.ts'
import { countCalls, findLatencies } from '../../store/console/call-charts.ts'
import {
  findGallerySummaries,
  findProjectSummaries,
} from '../../store/tenancy/project-summaries.ts'
import type { ReadTx } from '../../store/tx.ts'
import {
  budgetFields,
  isBilled,
  readWalletMicros,
  toBudget,
} from '../pages/money/wallet-and-budgets.ts'
import { accountAlert, findAlerts } from './alerts.ts'
import { createTimeBuckets } from './time-buckets.ts'
import { count, id, micros } from '../server/field-schemas.ts'
import { defineRead, type ConsoleContext } from '../server/console-route.ts'

const dayMs = 86_400_000
const errorsShown = 5

/** The last 24 hours by hour, or the last 7 or 30 days by day, UTC. The current one is included. */
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
    meteredMicros: micros,
    billed: count,
    budgets: z.array(z.object({ ...budgetFields, billing: isBilled })),
    walletMicros: micros,
    topErrors: z.array(z.object({ code: z.string(), count })),
    errorCodes: count.meta({
      description: 'The number of error codes; `topErrors` has the largest.',
    }),
    galleries: z.array(
      z.object({ galleryId: z.string(), name: z.string(), subjects: count, templates: count }),
    ),
    series: z.array(z.object({ atUtc: z.string(), calls: count, errors: count })),
    alerts: z.array(accountAlert),
  }),
  handle: async (call) => {
    const { identity, services, query } = call
    const { accountId } = identity
    const { projectId } = query
    const { disk } = await services.readSystem()
    const walletMicros = await readWalletMicros(services.store.db, accountId)
    return services.store.read(async (tx) => {
      const projects = await findProjectSummaries(tx, accountId, projectId)
      if (projectId !== undefined && projects.length === 0)
        throw new HttpError(404, 'The account has no project with this id.')
      const galleries = (await findGallerySummaries(tx, accountId)).filter(
        ({ galleryId }) =>
          projectId === undefined || projects.some((project) => project.galleryId === galleryId),
      )
      return {
        ...(await summarizeTraffic(tx, call)),
        budgets: projects.map(toBudget),
        walletMicros: String(walletMicros),
        galleries: galleries.map(({ galleryId, projectName, subjectCount, templateCount }) => ({
          galleryId,
          name: projectName ?? 'shared',
          subjects: subjectCount,
          templates: templateCount,
        })),
        alerts: await findAlerts(tx, {
          accountId,
          projectId,
          projects,
          disk,
          nowMs: services.clock(),
        }),
      }
    })
  },
})

type OverviewContext = ConsoleContext<{
  readonly projectId?: string | undefined
  readonly days: string
}>

async function summarizeTraffic(tx: ReadTx, { query, identity, services }: OverviewContext) {
  const nowMs = services.clock()
  const days = Number(query.days)
  const timeBuckets = createTimeBuckets(
    days === 1
      ? {}
      : {
          fromUtc: new Date(Math.floor(nowMs / dayMs) * dayMs - (days - 1) * dayMs),
          bucket: 'day',
        },
    nowMs,
  )
  const filter = { ...timeBuckets, accountId: identity.accountId, projectId: query.projectId }
  const rows = await countCalls(tx, filter, { by: 'code', stepMs: timeBuckets.stepMs })
  const series = timeBuckets.buckets.map((atUtc) => ({ atUtc, calls: 0, errors: 0 }))
  const codes = new Map<string, number>()
  for (const { atMs, id: code, calls } of rows) {
    const point = series[timeBuckets.indexOf(atMs)]
    if (point) point.calls += calls
    if (code === 'OK') continue
    if (point) point.errors += calls
    codes.set(code, (codes.get(code) ?? 0) + calls)
  }
  const latencies = createLatencyHistogram()
  for (const histogram of (await findLatencies(tx, filter, dayMs)).values())
    addHistogram(latencies, histogram)
  const calls = rows.reduce((sum, row) => sum + row.calls, 0)
  const errors = [...codes].sort(([, a], [, b]) => b - a)
  const failed = errors.reduce((sum, [, count]) => sum + count, 0)
  return {
    calls,
    okShare: calls === 0 ? null : (calls - failed) / calls,
    p50Ms: latencyPercentileMs(latencies, 0.5),
    p95Ms: latencyPercentileMs(latencies, 0.95),
    spentMicros: String(rows.reduce((sum, row) => sum + row.costMicros, 0n)),
    meteredMicros: String(rows.reduce((sum, row) => sum + row.meteredMicros, 0n)),
    billed: rows.reduce((sum, row) => sum + row.billed, 0),
    topErrors: errors.slice(0, errorsShown).map(([code, count]) => ({ code, count })),
    errorCodes: errors.length,
    series,
  }
}
