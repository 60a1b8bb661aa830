import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'
import type { MetricFamily } from '../../lib/observability/metric-family.ts'
import type { CallAttributes, SpanName } from '../../lib/observability/call-trace.ts'

/** A figure that somebody else keeps, asked for when the metrics are. */
export type MetricSource = {
  readonly name: string
  readonly help: string
  /** A counter only ever grows, from the start of the process on. */
  readonly kind: 'gauge' | 'counter'
  /** What its values are told apart by. */
  readonly labels: readonly string[]
  /** It must not fail. */
  readonly read: () => readonly MetricSample[] | Promise<readonly MetricSample[]>
}

export type MetricSample = { readonly labels: MetricLabels; readonly value: number }
type MetricLabels = Readonly<Record<string, string>>

export type Metrics = {
  readonly onCallCompleted: (facts: CallAttributes, durationMs: number) => void
  readonly onRequestCompleted: (facts: CallAttributes, durationMs: number) => void
  readonly onStep: (step: SpanName, durationMs: number) => void
  /** The Prometheus text of this moment. */
  readonly text: () => Promise<string>
  /** The same for other ways out: there is one set of counters. */
  readonly families: () => Promise<readonly MetricFamily[]>
}

const callBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
/** A step in memory takes microseconds. */
const stepBuckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, ...callBuckets]

/** Counts and times of calls. No label carries a caller's text. */
export function createMetrics(figures: readonly MetricSource[]): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  for (const figure of figures) registry.registerMetric(toCollectedMetric(figure))
  const { calls, durations, requests, steps } = callMetrics([registry])
  return {
    onCallCompleted: ({ action = '', code = '' }, durationMs) => {
      calls.inc({ action, code })
      durations.observe({ action }, durationMs / 1000)
    },
    onRequestCompleted: ({ method = '', route = '', status = 0 }) =>
      requests.inc({ method, route, status }),
    onStep: (step, durationMs) => steps.observe({ step }, durationMs / 1000),
    text: () => registry.metrics(),
    families: () => registry.getMetricsAsJSON(),
  }
}

function callMetrics(registers: Registry[]) {
  return {
    calls: new Counter({
      name: 'facegate_calls_total',
      help: 'Envelopes answered, by action and code; OK is the code of success.',
      labelNames: ['action', 'code'] as const,
      registers,
    }),
    durations: new Histogram({
      name: 'facegate_call_duration_seconds',
      help: 'Time from the request line to the envelope.',
      labelNames: ['action'] as const,
      buckets: callBuckets,
      registers,
    }),
    requests: new Counter({
      name: 'facegate_http_requests_total',
      help: 'Requests answered, by route and status; an envelope has status 200.',
      labelNames: ['method', 'route', 'status'] as const,
      registers,
    }),
    steps: new Histogram({
      name: 'facegate_step_duration_seconds',
      help: 'Time of the steps of calls; one step may stand within another.',
      labelNames: ['step'] as const,
      buckets: stepBuckets,
      registers,
    }),
  }
}

function toCollectedMetric({
  name,
  help,
  kind,
  labels: labelNames,
  read,
}: MetricSource): Gauge | Counter {
  const options = { name, help, labelNames, registers: [] }
  return kind === 'gauge'
    ? new Gauge({
        ...options,
        async collect() {
          const values = await read()
          this.reset()
          for (const { labels, value } of values) this.set(labels, value)
        },
      })
    : new Counter({
        ...options,
        async collect() {
          const values = await read()
          this.reset()
          for (const { labels, value } of values) this.inc(labels, value)
        },
      })
}
