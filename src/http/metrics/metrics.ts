import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'
import type { MetricFamily } from '../../lib/observability/metric-family.ts'
import {
  type CallAttributes,
  type SpanName,
  traceCall,
  addCallAttributes,
  currentCallAttributes,
  type CallObserver,
} from '../../lib/observability/call-trace.ts'
import { newId } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import described from './call-metrics.json' with { type: 'json' }

/** A metric whose value another part of the service keeps; it is read with every scrape. */
export type MetricSource = {
  readonly name: string
  readonly help: string
  /** A counter only increases, from the start of the process. */
  readonly kind: 'gauge' | 'counter'
  /** The names of its labels. */
  readonly labels: readonly string[]
  /** It must not fail. */
  readonly read: () => readonly MetricSample[] | Promise<readonly MetricSample[]>
}

export type MetricSample = { readonly labels: MetricLabels; readonly value: number }
type MetricLabels = Readonly<Record<string, string>>

export type Metrics = ReturnType<typeof createMetrics>

const callBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
/** Steps in memory take microseconds. */
const stepBuckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, ...callBuckets]

/** Creates the counters and histograms of calls. No label contains text of a caller. */
export function createMetrics(sources: readonly MetricSource[]) {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  for (const source of sources) registry.registerMetric(toCollectedMetric(source))
  const { calls, outcomes, durations, requests, steps } = callMetrics([registry])
  const observed = createObservations((step: SpanName, durationMs) =>
    steps.observe({ step }, durationMs / 1000),
  )
  return {
    onCallCompleted: (call: CallAttributes, durationMs: number): void => {
      const { action = '', code = '', outcome, isNearMiss } = call
      calls.inc({ action, code })
      if (outcome) outcomes.inc({ action, outcome, near_miss: String(isNearMiss === true) })
      durations.observe({ action }, durationMs / 1000)
    },
    onRequestCompleted: ({ method = '', route = '', status = 0 }: CallAttributes): void =>
      requests.inc({ method, route, status }),
    onStep: observed.add,
    /** Returns the current metrics in the text format of Prometheus. */
    text: (): Promise<string> => {
      observed.flush()
      return registry.metrics()
    },
    /** Returns the same metrics for other exporters. */
    families: (): Promise<readonly MetricFamily[]> => {
      observed.flush()
      return registry.getMetricsAsJSON()
    },
  }
}

/** `call-metrics.json` describes them. */
function callMetrics(registers: Registry[]) {
  return {
    calls: new Counter({ ...described.calls, registers }),
    outcomes: new Counter({ ...described.outcomes, registers }),
    durations: new Histogram({ ...described.durations, buckets: callBuckets, registers }),
    requests: new Counter({ ...described.requests, registers }),
    steps: new Histogram({ ...described.steps, buckets: stepBuckets, registers }),
  }
}

function toCollectedMetric({ name, help, kind, labels: labelNames, read }: MetricSource) {
  const Metric = kind === 'gauge' ? Gauge : Counter
  return new Metric({
    name,
    help,
    labelNames,
    registers: [],
    async collect(this: Gauge | Counter) {
      const values = await read()
      this.reset()
      for (const { labels, value } of values) this.inc(labels, value)
    },
  })
}

/** The most values that wait. All of them take about a millisecond. */
export const observationsMax = 1000

/**
 * Collects measured values and adds them to a histogram together. A histogram finds the labels and the
 * bucket of each value in code that other work has displaced from the caches of the processor, unless
 * it processes many values at once.
 */
export function createObservations<Label>(observe: (label: Label, value: number) => void) {
  const labels: Label[] = []
  const values: number[] = []
  const flush = (): void => {
    for (const [index, label] of labels.entries()) observe(label, values[index] ?? 0)
    labels.length = 0
    values.length = 0
  }
  return {
    add: (label: Label, value: number): void => {
      labels.push(label)
      values.push(value)
      if (labels.length >= observationsMax) flush()
    },
    /** Adds all values to the histogram. */
    flush,
  }
}

/** Receives the spans of a request while it runs, and its duration when it is completed. */
export type RequestObserver = CallObserver & {
  readonly onRequestCompleted?:
    | ((attributes: CallAttributes, durationMs: number) => void)
    | undefined
}

type ObservedRequest = {
  readonly method: string
  readonly route: string
  /** The request is counted, but neither traced nor logged, such as health checks and files. */
  readonly isQuiet: boolean
  readonly traceparent: string | undefined
}

/** The response that was sent. */
export type SentResponse = { readonly status: number }

/**
 * Runs a request and reports it to logs, metrics and traces. The request has a generated id from the
 * start; a requestId of the caller replaces it after the body is read.
 */
export function observeRequest(
  { method, route, isQuiet, traceparent }: ObservedRequest,
  work: () => Promise<SentResponse>,
  { log, observer = {} }: { readonly log: Log; readonly observer?: RequestObserver | undefined },
): Promise<void> {
  const startMs = performance.now()
  const attributes = { requestId: newId(), method, route }
  const callObserver = isQuiet ? {} : observer
  return traceCall({ attributes, observer: callObserver, traceparent }, async () => {
    addCallAttributes(await work())
    const durationMs = performance.now() - startMs
    observer.onRequestCompleted?.(currentCallAttributes(), durationMs)
    if (!isQuiet) log.debug({ ...currentCallAttributes(), durationMs }, 'served')
  })
}
