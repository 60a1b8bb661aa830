import type { Config } from './config.ts'
import { figuresOf, type FigureSources } from './figures.ts'
import type { ExecuteOptions } from './http/execute.ts'
import { createMetrics, type Metrics } from './http/metrics.ts'
import type { ServerWatch } from './http/observed.ts'
import type { Log } from './lib/log.ts'
import { note } from './lib/trace.ts'
import { openTelemetry } from './telemetry/telemetry.ts'

/** Whoever looks on while the service works. */
export type Watching = {
  readonly onAnswered: ExecuteOptions['onAnswered']
  readonly server: ServerWatch
  /** The Prometheus text of this moment. */
  readonly metrics: () => Promise<string>
  /** Sends what is left. */
  readonly close: () => Promise<void>
}

export type WatchOptions = FigureSources & {
  readonly actions: ReadonlyMap<string, unknown>
  readonly log: Log
}

/** Metrics always; traces, and metrics for a collector, where the configuration names one. */
export async function openWatch(options: WatchOptions): Promise<Watching> {
  const { config, version, log, actions } = options
  const metrics = createMetrics(figuresOf(options))
  const { families, onServed, onStep } = metrics
  const telemetry = await openTelemetry({ ...telemetryOptions(config), version, families, log })
  return {
    onAnswered: answeredBy(metrics, actions),
    server: { onServed, onStep, trace: telemetry?.trace },
    metrics: metrics.text,
    close: async () => telemetry?.close(),
  }
}

/** What is counted and noted of an answer says nothing that a caller made up. */
function answeredBy(
  metrics: Metrics,
  actions: WatchOptions['actions'],
): ExecuteOptions['onAnswered'] {
  return ({ action, errors, meta }, durationMs) => {
    const known = actions.has(action) ? action : 'unknown'
    const facts = { action: known, code: errors[0]?.code ?? 'OK', isReplay: meta !== undefined }
    note(facts)
    metrics.onAnswered(facts, durationMs)
  }
}

function telemetryOptions(config: Config) {
  const base = config.OTEL_EXPORTER_OTLP_ENDPOINT.replace(/\/+$/u, '')
  const of = (kind: string): string => (base === '' ? '' : `${base}/v1/${kind}`)
  return {
    serviceName: config.OTEL_SERVICE_NAME,
    tracesUrl: config.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || of('traces'),
    metricsUrl: config.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT || of('metrics'),
    sampler: config.OTEL_TRACES_SAMPLER,
    samplerRatio: config.OTEL_TRACES_SAMPLER_ARG,
    metricsMs: config.OTEL_METRIC_EXPORT_INTERVAL,
  }
}
