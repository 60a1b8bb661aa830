import { z } from 'zod'
import {
  addHistogram,
  createLatencyHistogram,
  latencyPercentileMs,
} from '../../lib/observability/latency-histogram.ts'
import { HttpError } from '../../lib/errors.ts'
import {
  countCalls,
  findLatencies,
  readChart,
  readWholeChart,
  type CallCount,
  type ChartFilter,
} from '../../store/console/call-charts.ts'
import { findAuditEntries } from '../../store/console/audit-log.ts'
import { findSecondFactor } from '../../store/console/second-factors.ts'
import { findKeys } from '../../store/tenancy/key-list.ts'
import {
  findGallerySummaries,
  findProjectSummaries,
  type ProjectSummary,
} from '../../store/tenancy/project-summaries.ts'
import type { ReadTx } from '../../store/database.ts'
import {
  budgetFields,
  isBilled,
  readWalletMicros,
  toBudget,
} from '../pages/money/wallet-and-budgets.ts'
import { accountAlert, findAlerts } from './alerts.ts'
import { createTimeBuckets } from './time-buckets.ts'
import { count, id, micros } from '../server/input.ts'
import { defineRead, type ConsoleContext } from '../server/console-route.ts'
import type { ConsoleServices } from '../services.ts'
import { dayMs, hourMs } from '../../lib/clock.ts'
import texts from '../field-texts.json' with { type: 'json' }

/** The steps of a new installation, in their order. */
const firstSteps = [
  'secondFactor',
  'firstCall',
  'firstSubject',
  'recommendedModels',
  'backup',
] as const

const errorsShown = 5

/** A forecast uses the spend of this many days. */
const forecastDays = 7
const forecastDaysMax = 365

const trafficFields = {
  calls: count,
  okShare: z.number().nullable(),
  p50Ms: z.number().nullable(),
  p95Ms: z.number().nullable(),
  spentMicros: micros,
}

/** The last 24 hours by hour, or the last 7 or 30 days by day, UTC. The current one is included. */
export const getOverview = defineRead('/overview', {
  isLong: true,
  query: z.strictObject({
    projectId: id.optional(),
    days: z.enum(['1', '7', '30']).default('1'),
  }),
  response: z.object({
    ...trafficFields,
    before: z.object(trafficFields).describe(texts.overview.before),
    meteredMicros: micros,
    billed: count,
    budgets: z.array(
      z.object({
        ...budgetFields,
        billing: isBilled,
        daysLeft: count.nullable().meta({
          description: `Whole days until the budget is spent at the rate of the last ${forecastDays} days; null without spend or from more than ${forecastDaysMax} days on.`,
        }),
      }),
    ),
    walletMicros: micros,
    topErrors: z.array(z.object({ code: z.string(), count })),
    errorCodes: count.describe(texts.overview.errorCodes),
    galleries: z.array(
      z.object({ galleryId: z.string(), name: z.string(), subjects: count, templates: count }),
    ),
    series: z.array(z.object({ atUtc: z.string(), calls: count, errors: count })),
    alerts: z.array(accountAlert),
    firstSteps: z
      .array(z.object({ step: z.enum(firstSteps), isDone: z.boolean() }))
      .describe(texts.overview.firstSteps),
  }),
  handle: async (call) => {
    const { identity, services, query } = call
    const { accountId } = identity
    const { projectId } = query
    const { disk } = await services.readSystem()
    const { models } = await services.readModels()
    const hasInstalledModels = models.some(({ state }) => state === 'installed')
    const walletMicros = await readWalletMicros(services.store.db, accountId)
    const spent = await readSpend(call)
    const traffic = await summarizeTraffic(call)
    return services.store.read(async (tx) => {
      const projects = await findProjectSummaries(tx, accountId, projectId)
      if (projectId !== undefined && projects.length === 0)
        throw new HttpError(404, 'The account has no project with this id.')
      const galleries = (await findGallerySummaries(tx, accountId)).filter(
        ({ galleryId }) =>
          projectId === undefined || projects.some((project) => project.galleryId === galleryId),
      )
      return {
        ...traffic,
        budgets: projects.map((project) => ({
          ...toBudget(project),
          daysLeft: daysLeft(project.balanceMicros, spent.get(project.projectId) ?? 0n),
        })),
        walletMicros: String(walletMicros),
        galleries: galleries.map(({ galleryId, projectName, subjectCount, templateCount }) => ({
          galleryId,
          name: projectName ?? 'shared',
          subjects: subjectCount,
          templates: templateCount,
        })),
        firstSteps: await findFirstSteps(tx, call, { projects, hasInstalledModels }),
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

async function summarizeTraffic({ query, identity, services }: OverviewContext) {
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
  const { fromMs, toMs, stepMs } = timeBuckets
  const filter = { fromMs, toMs, accountId: identity.accountId, projectId: query.projectId }
  const { store } = services
  const count = (tx: ReadTx, part: ChartFilter) => countCalls(tx, part, { by: 'code', stepMs })
  const rows = await readWholeChart(store, filter, count)
  const series = timeBuckets.buckets.map((atUtc) => ({ atUtc, calls: 0, errors: 0 }))
  const codes = new Map<string, number>()
  for (const { atMs, id: code, calls } of rows) {
    const point = series[timeBuckets.indexOf(atMs)]
    if (point) point.calls += calls
    if (code === 'OK') continue
    if (point) point.errors += calls
    codes.set(code, (codes.get(code) ?? 0) + calls)
  }
  const errors = [...codes].sort(([, a], [, b]) => b - a)
  // A day is compared with the same day of the week before. The earlier period has as many hours.
  const shiftMs = Math.max(days, 7) * dayMs
  const earlier = { ...filter, fromMs: fromMs - shiftMs, toMs: toMs - shiftMs }
  return {
    ...(await summarize(store, filter, rows)),
    before: await summarize(store, earlier, await readWholeChart(store, earlier, count)),
    meteredMicros: String(rows.reduce((sum, row) => sum + row.meteredMicros, 0n)),
    billed: rows.reduce((sum, row) => sum + row.billed, 0),
    topErrors: errors.slice(0, errorsShown).map(([code, count]) => ({ code, count })),
    errorCodes: errors.length,
    series,
  }
}

async function summarize(
  store: ConsoleServices['store'],
  filter: ChartFilter,
  rows: readonly CallCount[],
): Promise<z.input<z.ZodObject<typeof trafficFields>>> {
  const latencies = createLatencyHistogram()
  for await (const days of readChart(store, filter, (tx, part) => findLatencies(tx, part, dayMs)))
    for (const [, histogram] of days) addHistogram(latencies, histogram)
  const calls = rows.reduce((sum, row) => sum + row.calls, 0)
  const ok = rows.reduce((sum, { id: code, calls }) => sum + (code === 'OK' ? calls : 0), 0)
  return {
    calls,
    okShare: calls === 0 ? null : ok / calls,
    p50Ms: latencyPercentileMs(latencies, 0.5),
    p95Ms: latencyPercentileMs(latencies, 0.95),
    spentMicros: String(rows.reduce((sum, row) => sum + row.costMicros, 0n)),
  }
}

/** Returns what each project has spent in the last week. */
async function readSpend({ identity, services: { store, clock } }: OverviewContext) {
  const toMs = Math.ceil(clock() / hourMs) * hourMs
  const filter = { accountId: identity.accountId, fromMs: toMs - forecastDays * dayMs, toMs }
  const grouping = { by: 'projectId', stepMs: dayMs } as const
  const spent = new Map<string, bigint>()
  const parts = readChart(store, filter, (tx, part) => countCalls(tx, part, grouping))
  for await (const rows of parts)
    for (const { id, costMicros } of rows) spent.set(id, (spent.get(id) ?? 0n) + costMicros)
  return spent
}

/** Returns in how many whole days a budget is spent at the rate of the last week. */
function daysLeft(balanceMicros: bigint, spentMicros: bigint): number | null {
  if (spentMicros <= 0n) return null
  const days = (balanceMicros * BigInt(forecastDays)) / spentMicros
  return days <= BigInt(forecastDaysMax) ? Number(days) : null
}

type InstallationState = {
  readonly projects: readonly ProjectSummary[]
  readonly hasInstalledModels: boolean
}

/** Returns the steps of a new installation; none if all are done. */
async function findFirstSteps(
  tx: ReadTx,
  { identity, services }: ConsoleContext,
  { projects, hasInstalledModels }: InstallationState,
) {
  const { accountId, userId } = identity
  const factor = userId === null ? undefined : await findSecondFactor(tx, userId)
  const [lastUsed] = await findKeys(tx, {
    accountId,
    now: new Date(services.clock()),
    sort: { by: 'lastUsedAtUtc', isDescending: true },
    limit: 1,
  })
  const backups = { accountId, auditAction: 'database.backup', limit: 1 }
  const isDone = {
    secondFactor: factor?.isConfirmed === 1,
    firstCall: (lastUsed?.lastUsedAtUtc ?? null) !== null,
    firstSubject: projects.some(({ subjectCount }) => subjectCount > 0),
    recommendedModels: hasInstalledModels,
    // PostgreSQL has its own tools for backups.
    backup: services.store.isShared || (await findAuditEntries(tx, backups)).length > 0,
  }
  if (firstSteps.every((step) => isDone[step])) return []
  return firstSteps.map((step) => ({ step, isDone: isDone[step] }))
}
