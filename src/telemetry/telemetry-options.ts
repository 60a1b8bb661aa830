import type { Log } from '../lib/log.ts'
import type { CallObserver } from '../lib/observability/call-trace.ts'
import type { MetricFamily } from '../lib/observability/metric-family.ts'

/** The export of traces and metrics to a collector. */
export type Telemetry = {
  /** Starts the trace of a call; undefined when only metrics are exported. */
  readonly startTrace: CallObserver['startTrace']
  /** Exports the remaining data and stops. It takes a few seconds at most and never fails. */
  readonly close: () => Promise<void>
}

export type TelemetryOptions = {
  /** Empty: the value of `OTEL_RESOURCE_ATTRIBUTES`, or `facegate`. */
  readonly serviceName: string
  readonly version: string
  /** Complete URLs. Empty: no traces, or no metrics, are exported. */
  readonly tracesUrl: string
  readonly metricsUrl: string
  readonly sampler: SamplerName
  /** The fraction of traces to keep, for the samplers with a ratio. */
  readonly samplerRatio: number
  readonly metricsIntervalMs: number
  /** Returns the current values of all metrics. */
  readonly readMetricFamilies: () => Promise<readonly MetricFamily[]>
  readonly log: Pick<Log, 'warn'>
}

type RootSampler = 'always_on' | 'always_off' | 'traceidratio'
export type SamplerName = RootSampler | `parentbased_${RootSampler}`
