import { callDurationsMs, type SpanName } from '../../lib/observability/call-trace.ts'

/** In the order of a call. The steps of the database are parts of these. */
const timedSteps = [
  'gate.authenticate',
  'gate.admit',
  'vision.queue',
  'vision.analyze',
  'gallery.search',
  'gate.settle',
] as const satisfies readonly SpanName[]

/**
 * Returns the durations of the steps of the current call as `Server-Timing` (W3C, ms). Only calls with a
 * valid key get them: the duration of a failed authentication is not published.
 */
export function serverTiming(): Readonly<Record<string, string>> {
  const durations = callDurationsMs()
  if (!durations.has('gate.admit')) return {}
  const entries = timedSteps.flatMap((step) => {
    const durationMs = durations.get(step)
    return durationMs === undefined ? [] : [`${step};dur=${durationMs.toFixed(2)}`]
  })
  return { 'server-timing': entries.join(', ') }
}
