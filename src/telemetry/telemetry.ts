import type { Log } from '../lib/log.ts'
import type { MetricFamily } from '../lib/observability/metric-family.ts'
import type { CallObserver } from '../lib/observability/call-trace.ts'

/** What leaves the process for a collector. */
export type Telemetry = {
  /** Begins the trace of a call; missing where only metrics are sent. */
  readonly startTrace: CallObserver['startTrace']
  /** Sends what is left and stops; it takes a few seconds at most and never fails. */
  readonly close: () => Promise<void>
}

export type TelemetryOptions = {
  /** Empty: as `OTEL_RESOURCE_ATTRIBUTES` says, or `facegate`. */
  readonly serviceName: string
  readonly version: string
  /** Whole addresses; an empty one: nothing of this kind is sent. */
  readonly tracesUrl: string
  readonly metricsUrl: string
  readonly sampler: SamplerName
  /** The share of traces that are kept, for the samplers that go by it. */
  readonly samplerRatio: number
  readonly metricsIntervalMs: number
  /** What the metrics are at this moment. */
  readonly readMetricFamilies: () => Promise<readonly MetricFamily[]>
  readonly log: Pick<Log, 'warn'>
}

type RootSampler = 'always_on' | 'always_off' | 'traceidratio'
export type SamplerName = RootSampler | `parentbased_${RootSampler}`

/** The SDK of OpenTelemetry is read from the disk only where something is to be sent. */
export async function openTelemetry(options: TelemetryOptions): Promise<Telemetry | undefined> {
  if (options.tracesUrl === '' && options.metricsUrl === '') return undefined
  const { openOtlp } = await import('./otlp.ts')
  return openOtlp(options)
}
