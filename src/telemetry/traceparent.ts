import type { SpanContext } from '@opentelemetry/api'

const traceparentPattern = /^(?!ff)([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/u

/**
 * Parses the W3C `traceparent` header; undefined when it is missing or malformed. `tracestate` is not
 * read: it is foreign data, and this service calls no other service that would need it.
 */
export function parseTraceparent(traceparent: string | undefined): SpanContext | undefined {
  const [, version, traceId = '', spanId = '', flags = '', rest] =
    traceparentPattern.exec(traceparent?.trim() ?? '') ?? []
  if (version === undefined || (version === '00' && rest !== undefined)) return undefined
  if (/^0+$/u.test(traceId) || /^0+$/u.test(spanId)) return undefined
  // This version defines only the lowest bit, "sampled".
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true }
}
