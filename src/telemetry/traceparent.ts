import type { SpanContext } from '@opentelemetry/api'

const traceparentPattern = /^(?!ff)([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/u

/**
 * The caller's place in a trace by the W3C's `traceparent`; undefined when there is none, or none
 * that is well-formed. `tracestate` is not read: it is a text of others, and nothing is called from
 * here that would want it.
 */
export function parseTraceparent(traceparent: string | undefined): SpanContext | undefined {
  const [, version, traceId = '', spanId = '', flags = '', more] =
    traceparentPattern.exec(traceparent?.trim() ?? '') ?? []
  if (version === undefined || (version === '00' && more !== undefined)) return undefined
  if (/^0+$/u.test(traceId) || /^0+$/u.test(spanId)) return undefined
  // Only the lowest bit, "sampled", means something to this version.
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true }
}
