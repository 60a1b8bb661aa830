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
import * as trace from '@opentelemetry/sdk-trace'
import { newId } from '../lib/ids.ts'
import { bindToCall } from '../lib/observability/call-trace.ts'
import { createMetricProducer } from './metric-producer.ts'
import { createTraceStarter } from './trace-starter.ts'
import type { Telemetry, TelemetryOptions, SamplerName } from './telemetry-options.ts'

const scope = 'facegate'
/** An unreachable collector must not delay the shutdown of the process for longer. */
const shutdownMsMax = 3000
const diagnosticIntervalMsMin = 60_000

/**
 * Exports traces and metrics to a collector as OTLP over HTTP. The SDK reads headers, timeouts,
 * compression and certificates from its standard environment variables, so that secrets are not part
 * of the configuration. Of the globals of the SDK only the diagnostic logger is set.
 */
export function openOtlp(options: TelemetryOptions): Telemetry {
  logSdkDiagnostics(options.log)
  const resource = createResource(options)
  const traces = options.tracesUrl === '' ? undefined : createTracerProvider(options, resource)
  const metrics = options.metricsUrl === '' ? undefined : createMeterProvider(options, resource)
  return {
    startTrace: traces && createTraceStarter(traces.getTracer(scope, options.version)),
    close: async () => {
      const shutdown = Promise.allSettled([traces?.shutdown(), metrics?.shutdown()])
      const { promise: timeout, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, shutdownMsMax)
      await Promise.race([shutdown, timeout])
      clearTimeout(timer)
      diag.disable()
    },
  }
}

/** Describes this server. `OTEL_RESOURCE_ATTRIBUTES` overrides the defaults. */
function createResource({ serviceName, version }: TelemetryOptions): Resource {
  const defaults = resourceFromAttributes({
    'service.name': 'facegate',
    'service.version': version,
    'service.instance.id': newId(),
    'host.name': hostname(),
  })
  const resource = defaults.merge(detectResources({ detectors: [resourceAttributesEnvDetector] }))
  return serviceName === ''
    ? resource
    : resource.merge(resourceFromAttributes({ 'service.name': serviceName }))
}

function createTracerProvider({ tracesUrl, ...options }: TelemetryOptions, resource: Resource) {
  const exporter = new OTLPTraceExporter({ url: tracesUrl })
  return new trace.TracerProvider({
    resource,
    sampler: createSampler(options.sampler, options.samplerRatio),
    spanProcessors: [new trace.BatchSpanProcessor({ exporter })],
  })
}

function createMeterProvider(options: TelemetryOptions, resource: Resource): MeterProvider {
  const { metricsUrl, metricsIntervalMs, readMetricFamilies } = options
  const reader = new PeriodicExportingMetricReader({
    exporter: new OTLPMetricExporter({ url: metricsUrl }),
    exportIntervalMillis: metricsIntervalMs,
    exportTimeoutMillis: Math.min(metricsIntervalMs, 10_000),
    metricProducers: [createMetricProducer(readMetricFamilies, { scope, resource })],
  })
  return new MeterProvider({ resource, readers: [reader] })
}

/** Logs SDK errors and warnings, at most once a minute: a collector can be unreachable for long. */
function logSdkDiagnostics(log: TelemetryOptions['log']): void {
  let lastMs = -Infinity
  // The SDK starts its timers during calls; the log lines must not contain the ids of these calls.
  const logDiagnostic = bindToCall((text: string): void => {
    if (performance.now() - lastMs < diagnosticIntervalMsMin) return
    lastMs = performance.now()
    log.warn({ text: text.slice(0, 500) }, 'telemetry export failed')
  })
  const ignore = () => undefined
  const logger = {
    error: logDiagnostic,
    warn: logDiagnostic,
    info: ignore,
    debug: ignore,
    verbose: ignore,
  }
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true })
}

const parentBasedPrefix = 'parentbased_'

/** Creates a sampler by its name in `OTEL_TRACES_SAMPLER`. This SDK does not read the variable. */
function createSampler(name: SamplerName, ratio: number): trace.Sampler {
  const root = createRootSampler(name.replace(parentBasedPrefix, ''), ratio)
  return name.startsWith(parentBasedPrefix) ? new trace.ParentBasedSampler({ root }) : root
}

function createRootSampler(name: string, ratio: number): trace.Sampler {
  if (name === 'always_on') return new trace.AlwaysOnSampler()
  if (name === 'always_off') return new trace.AlwaysOffSampler()
  return new trace.TraceIdRatioBasedSampler(ratio)
}
