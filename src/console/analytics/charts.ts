import { z } from 'zod'
import { allActions } from '../../actions/all-actions.ts'
import { verifyThreshold } from '../../actions/verify.ts'
import { dayMs, formatUtc } from '../../lib/clock.ts'
import { errorTable } from '../../lib/errors.ts'
import { mapValues } from '../../lib/map-values.ts'
import { callOutcomes } from '../../lib/observability/call-decision.ts'
import {
  addHistogram,
  createLatencyHistogram,
  latencyPercentileMs,
  latencyRelativeErrorMax,
  type LatencyHistogram,
} from '../../lib/observability/latency-histogram.ts'
import {
  countCalls,
  type CallCount,
  countScores,
  findLatencies,
  readChart,
  readWholeChart,
  type CallGrouping,
  type ChartFilter,
} from '../../store/console/call-charts.ts'
import { scoreBinCount } from '../../store/gate/hourly-counts.ts'
import { keyNames } from '../../store/tenancy/key-list.ts'
import { findProjectNames, findProjectSummaries } from '../../store/tenancy/project-summaries.ts'
import type { ReadTx } from '../../store/database.ts'
import { groupSeries, createTimeBuckets, type TimeBuckets } from './time-buckets.ts'
import { count, id, micros, timeRange } from '../server/input.ts'
import { defineRead } from '../server/console-route.ts'
import texts from '../field-texts.json' with { type: 'json' }
import type { ConsoleServices } from '../services.ts'

const filterFields = {
  projectId: id.optional(),
  keyId: id.optional(),
  action: z.string().max(128).optional(),
  ...timeRange,
  /** The time step, UTC. */
  bucket: z.enum(['hour', 'day']).optional(),
}

const seriesFields = {
  name: z.string(),
  id: z.string(),
  order: count.describe(texts.charts.order),
}

const countedHours = {
  fromUtc: z.string().describe(texts.charts.fromUtc),
  toUtc: z.string().describe(texts.charts.toUtc),
}

const chartFields = {
  ...countedHours,
  buckets: z.array(z.string()).describe(texts.charts.buckets),
}

function chartTimes({ fromMs, toMs, buckets }: TimeBuckets) {
  return { fromUtc: formatUtc(fromMs), toUtc: formatUtc(toMs), buckets }
}

const groupColumns = {
  action: 'action',
  project: 'projectId',
  key: 'keyId',
  code: 'code',
  outcome: 'outcome',
} as const satisfies Readonly<Record<string, CallGrouping>>

/** The most keys or projects with a separate series. The series `others` is the sum of all others. */
const seriesMax = 200

/** Counts the calls of a chart; by key and by project those with the most calls, and all others. */
async function readCounts(
  store: ConsoleServices['store'],
  { stepMs, ...filter }: ChartFilter & Pick<TimeBuckets, 'stepMs'>,
  group: keyof typeof groupColumns,
) {
  const by = groupColumns[group]
  const totals = new Map<string, number>()
  const read = (options: { readonly stepMs: number; readonly ids?: readonly string[] }) =>
    readChart(store, filter, (tx, part) => countCalls(tx, part, { by, ...options }))
  if (group === 'key' || group === 'project')
    for await (const rows of read({ stepMs: dayMs }))
      for (const { id, calls } of rows) totals.set(id, (totals.get(id) ?? 0) + calls)
  const largest = [...totals].sort(([, a], [, b]) => b - a).slice(0, seriesMax)
  return (await Array.fromAsync(read({ stepMs, ids: largest.map(([id]) => id) }))).flat()
}

export const callsChart = defineRead('/analytics/calls', {
  isLong: true,
  query: z.strictObject({
    by: z.enum(['action', 'project', 'key', 'code', 'outcome']),
    ...filterFields,
  }),
  response: z.object({
    ...chartFields,
    series: z.array(z.object({ ...seriesFields, counts: z.array(count), total: count })),
  }),
  handle: async ({ query, identity, services: { store, clock } }) => {
    const timeBuckets = createTimeBuckets(query, clock())
    const filter = { ...query, ...timeBuckets, accountId: identity.accountId }
    const rows = await readCounts(store, filter, query.by)
    return store.read(async (tx) => {
      const names = await readNames(tx, identity.accountId)
      const add = (sum: number, { calls }: CallCount) => sum + calls
      const seriesById = groupSeries(rows, timeBuckets, { zero: 0, add })
      const series = [...seriesById].map(([id, counts]) => {
        const total = counts.reduce((sum, count) => sum + count, 0)
        return { id, ...names(id), counts, total }
      })
      return { ...chartTimes(timeBuckets), series: series.sort((a, b) => b.total - a.total) }
    })
  },
})

export const spendChart = defineRead('/analytics/spend', {
  isLong: true,
  query: z.strictObject({ by: z.enum(['action', 'project', 'key']), ...filterFields }),
  response: z.object({
    ...chartFields,
    series: z.array(
      z.object({
        ...seriesFields,
        micros: z.array(micros),
        totalMicros: micros,
        meteredMicros: micros.describe(texts.charts.meteredMicros),
      }),
    ),
  }),
  handle: async ({ query, identity, services: { store, clock } }) => {
    const timeBuckets = createTimeBuckets(query, clock())
    const filter = { ...query, ...timeBuckets, accountId: identity.accountId }
    const counted = await readCounts(store, filter, query.by)
    const rows = counted.filter(({ costMicros, meteredMicros }) => costMicros + meteredMicros > 0n)
    return store.read(async (tx) => {
      const names = await readNames(tx, identity.accountId)
      const seriesBy = (value: (row: CallCount) => bigint) =>
        groupSeries(rows, timeBuckets, { zero: 0n, add: (sum, row) => sum + value(row) })
      const metered = seriesBy((row) => row.meteredMicros)
      const series = [...seriesBy((row) => row.costMicros)].map(([id, amounts]) => ({
        id,
        ...names(id),
        micros: amounts.map(String),
        totalMicros: String(sumOf(amounts)),
        meteredMicros: String(sumOf(metered.get(id) ?? [])),
      }))
      series.sort((a, b) => Number(BigInt(b.totalMicros) - BigInt(a.totalMicros)))
      return { ...chartTimes(timeBuckets), series }
    })
  },
})

function sumOf(amounts: readonly bigint[]): bigint {
  return amounts.reduce((sum, amount) => sum + amount, 0n)
}

/** Returns the name and the position of a series by its id. Actions and codes need no other name. */
async function readNames(tx: ReadTx, accountId: string) {
  const projects = await findProjectNames(tx, accountId)
  const projectNames = new Map(projects.map(({ projectId, name }) => [projectId, name]))
  const keys = await keyNames(tx, accountId)
  const names = new Map([...projectNames, ...keys])
  const kinds = [
    [...projectNames.keys()],
    [...keys.keys()],
    allActions.map(({ name }) => name),
    ['OK', ...Object.keys(errorTable)],
    callOutcomes,
  ]
  const orders = new Map(
    kinds.flatMap((ids: readonly string[]) => ids.map((id, index) => [id, index])),
  )
  return (id: string) => ({ name: names.get(id) ?? id, order: orders.get(id) ?? orders.size })
}

const milliseconds = z.number().nullable()

export const latencyChart = defineRead('/analytics/latency', {
  isLong: true,
  query: z.strictObject(filterFields),
  response: z.object({
    ...chartFields,
    p50: z.array(milliseconds),
    p95: z.array(milliseconds),
    p99: z.array(milliseconds),
    overall: z.object({ p50: milliseconds, p95: milliseconds, p99: milliseconds }),
    relativeErrorMax: z.number().describe(texts.charts.relativeErrorMax),
  }),
  handle: async ({ query, identity, services: { store, clock } }) => {
    const timeBuckets = createTimeBuckets(query, clock())
    const filter = { ...query, ...timeBuckets, accountId: identity.accountId }
    const { stepMs } = timeBuckets
    const histograms = new Map<number, LatencyHistogram>()
    const overall = createLatencyHistogram()
    const find = (tx: ReadTx, part: ChartFilter) => findLatencies(tx, part, stepMs)
    for await (const steps of readChart(store, filter, find))
      for (const [atMs, histogram] of steps) {
        addHistogram(overall, histogram)
        addHistogram(histogram, histograms.get(atMs) ?? createLatencyHistogram())
        histograms.set(atMs, histogram)
      }
    const perBucket = (share: number) =>
      timeBuckets.buckets.map((utc) => {
        const histogram = histograms.get(Date.parse(utc))
        return histogram ? latencyPercentileMs(histogram, share) : null
      })
    return {
      ...chartTimes(timeBuckets),
      ...mapValues(percentiles, perBucket),
      overall: mapValues(percentiles, (share) => latencyPercentileMs(overall, share)),
      relativeErrorMax: latencyRelativeErrorMax,
    }
  },
})

const percentiles = { p50: 0.5, p95: 0.95, p99: 0.99 }

export const scoresChart = defineRead('/analytics/scores', {
  isLong: true,
  query: z.strictObject({
    kind: z.enum(['similarity', 'liveness']),
    projectId: id.optional(),
    ...timeRange,
  }),
  response: z.object({
    ...countedHours,
    edges: z.array(z.number()).describe(texts.charts.edges),
    counts: z.array(count),
    threshold: z.number().nullable(),
    matched: count,
    total: count,
  }),
  handle: async ({ query, identity, services: { store, clock, defaults } }) => {
    const { accountId } = identity
    const { kind, projectId } = query
    const timeBuckets = createTimeBuckets(query, clock())
    const { fromMs, toMs } = timeBuckets
    const filter = { accountId, projectId, kind, fromMs, toMs }
    const bins = await readWholeChart(store, filter, countScores)
    return store.read(async (tx) => {
      const counts = Array.from({ length: scoreBinCount }, () => 0)
      for (const { bin, count } of bins) counts[bin] = (counts[bin] ?? 0) + count
      const [project] =
        projectId === undefined ? [] : await findProjectSummaries(tx, accountId, projectId)
      return {
        ...chartTimes(timeBuckets),
        edges: Array.from({ length: scoreBinCount + 1 }, (_, index) => index / scoreBinCount),
        counts,
        threshold:
          kind === 'liveness'
            ? defaults.livenessMin
            : (project?.identifyThreshold ?? verifyThreshold),
        matched: bins.reduce((sum, { matched }) => sum + matched, 0),
        total: bins.reduce((sum, { count }) => sum + count, 0),
      }
    })
  },
})
