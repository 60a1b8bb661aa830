import { z } from 'zod'
import { allActions } from '../../actions/all-actions.ts'
import { toJsonSchema } from '../../actions/schemas/json-schema.ts'
import {
  addHistogram,
  createLatencyHistogram,
  latencyPercentileMs,
  latencyRelativeErrorMax,
} from '../../lib/observability/latency-histogram.ts'
import type { LatencyHistogram } from '../../lib/observability/latency-histogram.ts'
import {
  countCalls,
  countScores,
  findLatencies,
  type CallGrouping,
} from '../../store/console/call-charts.ts'
import { scoreBinCount } from '../../store/gate/hourly-counts.ts'
import { keyNames } from '../../store/tenancy/key-list.ts'
import { findProjectSummaries } from '../../store/tenancy/project-summaries.ts'
import type { ReadTx } from '../../store/tx.ts'
import { groupSeries, createTimeBuckets } from './time-buckets.ts'
import { bucket, count, id, micros, timeRange } from '../server/schemas.ts'
import { defineRead } from '../server/route.ts'

const filter = {
  projectId: id.optional(),
  keyId: id.optional(),
  action: z.string().max(128).optional(),
  ...timeRange,
  bucket: bucket.optional(),
}

const seriesFields = { name: z.string(), id: z.string() }
const buckets = z.array(z.string()).meta({ description: 'When each hour or day begins, UTC.' })

const groupColumns = {
  action: 'action',
  project: 'projectId',
  key: 'keyId',
  code: 'code',
} as const satisfies Readonly<Record<string, CallGrouping>>

export const callsChart = defineRead({
  path: '/analytics/calls',
  minimumRole: 'viewer',
  query: z.strictObject({ by: z.enum(['action', 'project', 'key', 'code']), ...filter }),
  response: z.object({
    buckets,
    series: z.array(z.object({ ...seriesFields, counts: z.array(count), total: count })),
  }),
  handle: async ({ query, identity: visitor, services: { store, clock } }) => {
    const steps = createTimeBuckets(query, clock())
    const chosen = { ...query, ...steps, accountId: visitor.accountId }
    const by = { by: groupColumns[query.by], stepMs: steps.stepMs }
    return store.read(async (reading) => {
      const rows = await countCalls(reading, chosen, by)
      const names = await readNames(reading, visitor.accountId)
      const lines = groupSeries(rows, steps, { zero: 0, value: ({ calls }) => calls })
      const series = [...lines].map(([id, counts]) => {
        const total = counts.reduce((sum, count) => sum + count, 0)
        return { id, name: names.get(id) ?? id, counts, total }
      })
      return { buckets: [...steps.buckets], series: series.sort((a, b) => b.total - a.total) }
    })
  },
})

export const spendChart = defineRead({
  path: '/analytics/spend',
  minimumRole: 'viewer',
  query: z.strictObject({ by: z.enum(['action', 'project', 'key']), ...filter }),
  response: z.object({
    buckets,
    series: z.array(z.object({ ...seriesFields, micros: z.array(micros), totalMicros: micros })),
  }),
  handle: async ({ query, identity: visitor, services: { store, clock } }) => {
    const steps = createTimeBuckets(query, clock())
    const chosen = { ...query, ...steps, accountId: visitor.accountId }
    const by = { by: groupColumns[query.by], stepMs: steps.stepMs }
    return store.read(async (reading) => {
      const rows = (await countCalls(reading, chosen, by)).filter((row) => row.costMicros > 0n)
      const names = await readNames(reading, visitor.accountId)
      const lines = groupSeries(rows, steps, { zero: 0n, value: (row) => row.costMicros })
      const series = [...lines].map(([id, spent]) => {
        const total = spent.reduce((sum, amount) => sum + amount, 0n)
        const name = names.get(id) ?? id
        return { id, name, micros: spent.map(String), totalMicros: String(total) }
      })
      series.sort((a, b) => Number(BigInt(b.totalMicros) - BigInt(a.totalMicros)))
      return { buckets: [...steps.buckets], series }
    })
  },
})

/** What projects and keys are called, by their ids; actions and codes are their own names. */
async function readNames(reading: ReadTx, accountId: string): Promise<ReadonlyMap<string, string>> {
  const projects = await findProjectSummaries(reading, accountId)
  const named = projects.map(({ projectId, name }) => [projectId, name] as const)
  return new Map([...named, ...(await keyNames(reading, accountId))])
}

const milliseconds = z.number().nullable()

export const latencyChart = defineRead({
  path: '/analytics/latency',
  minimumRole: 'viewer',
  query: z.strictObject(filter),
  response: z.object({
    buckets,
    p50: z.array(milliseconds),
    p95: z.array(milliseconds),
    p99: z.array(milliseconds),
    overall: z.object({ p50: milliseconds, p95: milliseconds, p99: milliseconds }),
    relativeErrorMax: z.number().meta({ description: 'Figures come of buckets of this width.' }),
  }),
  handle: async ({ query, identity: visitor, services: { store, clock } }) => {
    const steps = createTimeBuckets(query, clock())
    const chosen = { ...query, ...steps, accountId: visitor.accountId }
    const found = await store.read((reading) => findLatencies(reading, chosen, steps.stepMs))
    const overall = createLatencyHistogram()
    for (const histogram of found.values()) addHistogram(overall, histogram)
    const each = (share: number) =>
      steps.buckets.map((utc) => {
        const histogram = found.get(Date.parse(utc))
        return histogram ? latencyPercentileMs(histogram, share) : null
      })
    return {
      buckets: [...steps.buckets],
      p50: each(0.5),
      p95: each(0.95),
      p99: each(0.99),
      overall: percentilesOf(overall),
      relativeErrorMax: latencyRelativeErrorMax,
    }
  },
})

function percentilesOf(histogram: LatencyHistogram) {
  const at = (share: number) => latencyPercentileMs(histogram, share)
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) }
}

export const scoresChart = defineRead({
  path: '/analytics/scores',
  minimumRole: 'viewer',
  query: z.strictObject({
    kind: z.enum(['similarity', 'liveness']),
    projectId: id.optional(),
    ...timeRange,
  }),
  response: z.object({
    edges: z.array(z.number()).meta({ description: 'One more than there are counts.' }),
    counts: z.array(count),
    threshold: z.number().nullable(),
    matched: count,
    total: count,
  }),
  handle: async ({ query, identity: visitor, services: { store, clock, defaults } }) => {
    const { accountId } = visitor
    const { kind, projectId } = query
    const { fromMs, toMs } = createTimeBuckets(query, clock())
    return store.read(async (reading) => {
      const found = await countScores(reading, { accountId, projectId, kind, fromMs, toMs })
      const counts = Array.from({ length: scoreBinCount }, () => 0)
      for (const { bin, count } of found) counts[bin] = count
      const [project] =
        projectId === undefined ? [] : await findProjectSummaries(reading, accountId, projectId)
      return {
        edges: Array.from({ length: scoreBinCount + 1 }, (_, at) => at / scoreBinCount),
        counts,
        threshold:
          kind === 'liveness'
            ? defaults.livenessMin
            : (project?.identifyThreshold ?? defaultVerifyThreshold()),
        matched: found.reduce((sum, { matched }) => sum + matched, 0),
        total: found.reduce((sum, { count }) => sum + count, 0),
      }
    })
  },
})

/** What svc.verify takes for calls that name no threshold. */
function defaultVerifyThreshold(): number | null {
  const action = allActions.find(({ name }) => name === 'svc.verify')
  const threshold = action && toJsonSchema(action.params, 'input').properties?.['threshold']
  const value = typeof threshold === 'object' ? threshold.default : undefined
  return typeof value === 'number' ? value : null
}
