import type { Config } from '../config.ts'
import { serviceMetrics, type MetricSources } from './metrics.ts'
import type { ExecuteOptions } from '../http/execute.ts'
import { createMetrics, type Metrics } from '../http/metrics/metrics.ts'
import type { RequestObserver } from '../http/metrics/observe-request.ts'
import type { Log } from '../lib/log.ts'
import { addCallAttributes } from '../lib/observability/call-trace.ts'
import { openTelemetry } from '../telemetry/telemetry.ts'

/** Whoever looks on while the service works. */
export type Observability = {
  readonly onCallCompleted: ExecuteOptions['onCallCompleted']
  readonly server: RequestObserver
  /** The Prometheus text of this moment. */
  readonly metrics: () => Promise<string>
  /** Sends what is left. */
  readonly close: () => Promise<void>
}

export type ObservabilityOptions = MetricSources & {
  readonly actions: ReadonlyMap<string, unknown>
  readonly log: Log
}

/** Metrics always; traces, and metrics for a collector, where the configuration names one. */
export async function openObservability(options: ObservabilityOptions): Promise<Observability> {
  const { config, version, log, actions } = options
  const metrics = createMetrics(serviceMetrics(options))
  const { families, onRequestCompleted, onStep } = metrics
  const telemetry = await openTelemetry({
    ...telemetryOptions(config),
    version,
    readMetricFamilies: families,
    log,
  })
  return {
    onCallCompleted: recordCalls(metrics, actions),
    server: { onRequestCompleted, onSpanEnd: onStep, startTrace: telemetry?.startTrace },
    metrics: metrics.text,
    close: async () => telemetry?.close(),
  }
}

/** What is counted and noted of an answer says nothing that a caller made up. */
function recordCalls(
  metrics: Metrics,
  actions: ObservabilityOptions['actions'],
): ExecuteOptions['onCallCompleted'] {
  return ({ action, errors, meta }, durationMs) => {
    const known = actions.has(action) ? action : 'unknown'
    const facts = { action: known, code: errors[0]?.code ?? 'OK', isReplay: meta !== undefined }
    addCallAttributes(facts)
    metrics.onCallCompleted(facts, durationMs)
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
    metricsIntervalMs: config.OTEL_METRIC_EXPORT_INTERVAL,
  }
}
