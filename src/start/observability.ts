import type { Config } from '../config.ts'
import { serviceMetrics, type MetricSources } from './service-metrics.ts'
import type { ExecuteOptions } from '../http/execute.ts'
import { countedName } from '../http/input/read-call.ts'
import { createMetrics, type Metrics } from '../http/metrics/metrics.ts'
import type { Log } from '../lib/log.ts'
import { isNearMiss } from '../lib/observability/call-decision.ts'
import { addCallAttributes } from '../lib/observability/call-trace.ts'
import { openTelemetry } from '../telemetry/telemetry.ts'

/** The metrics and traces of the service. */
export type Observability = Awaited<ReturnType<typeof openObservability>>

type ObservabilityOptions = MetricSources & {
  readonly actions: ReadonlyMap<string, unknown>
  readonly log: Log
}

/** Metrics are always collected. They and traces are sent to the collector of the configuration. */
export async function openObservability(options: ObservabilityOptions) {
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
    /** Returns the current metrics in the text format of Prometheus. */
    metrics: metrics.text,
    /** Sends the remaining traces and metrics. */
    close: async (): Promise<void> => telemetry?.close(),
  }
}

function recordCalls(
  metrics: Metrics,
  actions: ObservabilityOptions['actions'],
): ExecuteOptions['onCallCompleted'] {
  return ({ action, errors, meta }, durationMs, decision) => {
    const attributes = {
      action: countedName(action, actions),
      code: errors[0]?.code ?? 'OK',
      isReplay: meta !== undefined,
      ...(decision && { outcome: decision.outcome, isNearMiss: isNearMiss(decision) }),
    }
    addCallAttributes(attributes)
    metrics.onCallCompleted(attributes, durationMs)
  }
}

function telemetryOptions(config: Config) {
  const base = config.OTEL_EXPORTER_OTLP_ENDPOINT.replace(/\/+$/u, '')
  const urlOf = (signal: string): string => (base === '' ? '' : `${base}/v1/${signal}`)
  return {
    serviceName: config.OTEL_SERVICE_NAME,
    tracesUrl: config.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || urlOf('traces'),
    metricsUrl: config.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT || urlOf('metrics'),
    sampler: config.OTEL_TRACES_SAMPLER,
    samplerRatio: config.OTEL_TRACES_SAMPLER_ARG,
    metricsIntervalMs: config.OTEL_METRIC_EXPORT_INTERVAL,
  }
}
