import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import type { Attributes, Context, Span, Tracer, SpanContext } from '@opentelemetry/api'
import { ActionError, HttpError } from '../lib/errors.ts'
import type { CallAttributes, TraceSpan, CallObserver } from '../lib/observability/call-trace.ts'

/**
 * Creates the spans of calls. Parent spans are passed explicitly, because `call-trace.ts` already
 * tracks the current span.
 */
export function createTraceStarter(tracer: Tracer): NonNullable<CallObserver['startTrace']> {
  return (attributes, traceparent) => {
    const parent = parseTraceparent(traceparent)
    const parentContext = parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT
    const options = { kind: SpanKind.SERVER, attributes: toSpanAttributes(attributes) }
    const name = `${attributes.method} ${attributes.route}`
    return createTraceSpan(tracer, tracer.startSpan(name, options, parentContext), parentContext)
  }
}

function createTraceSpan(tracer: Tracer, span: Span, parentContext: Context): TraceSpan {
  if (!span.isRecording()) return unsampledSpan(span.spanContext().traceId)
  const context = trace.setSpan(parentContext, span)
  return {
    traceId: span.spanContext().traceId,
    startChild: (name, attributes) => {
      const kind = name.startsWith('database.') ? SpanKind.CLIENT : SpanKind.INTERNAL
      const options = { kind, attributes: toSpanAttributes(attributes) }
      return createTraceSpan(tracer, tracer.startSpan(name, options, context), context)
    },
    addAttributes: (attributes) => {
      span.setAttributes(toSpanAttributes(attributes))
      if ((attributes.status ?? 0) >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
    },
    recordError: (error) => {
      span.setAttribute('error.type', errorTypeOf(error))
      if (isServerError(error)) span.setStatus({ code: SpanStatusCode.ERROR })
    },
    end: () => span.end(),
  }
}

/** A span that the sampler dropped: child spans are free, and the log still contains the trace id. */
function unsampledSpan(traceId: string): TraceSpan {
  const ignore = () => undefined
  const span: TraceSpan = {
    traceId,
    startChild: () => span,
    addAttributes: ignore,
    recordError: ignore,
    end: ignore,
  }
  return span
}

/** The name of each attribute in a span. No other data about a call leaves the process. */
const attributeNames: Readonly<Record<keyof CallAttributes, string>> = {
  requestId: 'facegate.request_id',
  action: 'facegate.action',
  code: 'facegate.code',
  isReplay: 'facegate.replay',
  outcome: 'facegate.outcome',
  isNearMiss: 'facegate.near_miss',
  method: 'http.request.method',
  route: 'http.route',
  status: 'http.response.status_code',
  operation: 'db.operation.name',
}

function toSpanAttributes(attributes: CallAttributes): Attributes {
  const present = Object.entries(attributeNames).flatMap(([key, name]) => {
    const value = attributes[key as keyof CallAttributes]
    return value === undefined ? [] : [[name, value] as const]
  })
  return Object.fromEntries(present)
}

/** Returns the code or class of an error. Messages are excluded: they can repeat data of the caller. */
function errorTypeOf(error: unknown): string {
  if (error instanceof ActionError) return error.code
  if (error instanceof HttpError) return String(error.status)
  return error instanceof Error ? error.constructor.name : 'unknown'
}

/** Whether the error is an error of this service and not of the caller. */
function isServerError(error: unknown): boolean {
  if (error instanceof ActionError) return false
  return !(error instanceof HttpError) || error.status >= 500
}

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
