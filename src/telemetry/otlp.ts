import { hostname } from 'node:os'
import { DiagLogLevel, diag } from '@opentelemetry/api'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import {
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  type Resource,
} from '@opentelemetry/resources'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { newId } from '../lib/ids.ts'
import { bindToCall } from '../lib/observability/call-trace.ts'
import { createMetricProducer } from './metric-producer.ts'
import { createSampler } from './sampler.ts'
import { createTraceStarter } from './trace-starter.ts'
import type { Telemetry, TelemetryOptions } from './telemetry.ts'

const scope = 'facegate'
/** A collector that is away must not hold up the end of the process. */
const shutdownMsMax = 3000
const diagnosticIntervalMsMin = 60_000

/**
 * Sends traces and metrics to a collector, as OTLP over HTTP. Headers, timeouts, compression and
 * certificates are read by the SDK itself from the standard variables: secrets do not pass through
 * the configuration. Of the SDK's globals only the one
 * for complaints is set.
 */
export function openOtlp(options: TelemetryOptions): Telemetry {
  logSdkDiagnostics(options.log)
  const resource = createResource(options)
  const traces = options.tracesUrl === '' ? undefined : createTracerProvider(options, resource)
  const metrics = options.metricsUrl === '' ? undefined : createMeterProvider(options, resource)
  return {
    startTrace: traces && createTraceStarter(traces.getTracer(scope, options.version)),
    close: async () => {
      const closing = Promise.allSettled([traces?.shutdown(), metrics?.shutdown()])
      const { promise: late, resolve } = Promise.withResolvers<void>()
      const deadline = setTimeout(resolve, shutdownMsMax)
      await Promise.race([closing, late])
      clearTimeout(deadline)
      diag.disable()
    },
  }
}

/** Which server this is; `OTEL_RESOURCE_ATTRIBUTES` may say it better. */
function createResource({ serviceName, version }: TelemetryOptions): Resource {
  const own = resourceFromAttributes({
    'service.name': 'facegate',
    'service.version': version,
    'service.instance.id': newId(),
    'host.name': hostname(),
  })
  const told = own.merge(detectResources({ detectors: [resourceAttributesEnvDetector] }))
  return serviceName === ''
    ? told
    : told.merge(resourceFromAttributes({ 'service.name': serviceName }))
}

function createTracerProvider({ tracesUrl, ...options }: TelemetryOptions, resource: Resource) {
  const exporter = new OTLPTraceExporter({ url: tracesUrl })
  return new TracerProvider({
    resource,
    sampler: createSampler(options.sampler, options.samplerRatio),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  })
}

function createMeterProvider(options: TelemetryOptions, resource: Resource): MeterProvider {
  const { metricsUrl, metricsIntervalMs: metricsMs, readMetricFamilies: families } = options
  const reader = new PeriodicExportingMetricReader({
    exporter: new OTLPMetricExporter({ url: metricsUrl }),
    exportIntervalMillis: metricsMs,
    exportTimeoutMillis: Math.min(metricsMs, 10_000),
    metricProducers: [createMetricProducer(families, { scope, resource })],
  })
  return new MeterProvider({ resource, readers: [reader] })
}

/** What the SDK complains of goes to the log, once a minute: a collector may be away for long. */
function logSdkDiagnostics(log: TelemetryOptions['log']): void {
  let lastMs = -Infinity
  // The SDK's timers begin in the middle of calls, which have nothing to do with this.
  const complain = bindToCall((text: string): void => {
    if (performance.now() - lastMs < diagnosticIntervalMsMin) return
    lastMs = performance.now()
    log.warn({ text: text.slice(0, 500) }, 'telemetry is not delivered')
  })
  const ignore = () => undefined
  const logger = { error: complain, warn: complain, info: ignore, debug: ignore, verbose: ignore }
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true })
}
