import type { Telemetry, TelemetryOptions } from './telemetry-options.ts'

/** Opens the export. The OpenTelemetry SDK is loaded only when an export URL is configured. */
export async function openTelemetry(options: TelemetryOptions): Promise<Telemetry | undefined> {
  if (options.tracesUrl === '' && options.metricsUrl === '') return undefined
  const { openOtlp } = await import('./otlp.ts')
  return openOtlp(options)
}
