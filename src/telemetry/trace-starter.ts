import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Span,
  type Tracer,
} from '@opentelemetry/api'
import { ActionError, HttpError } from '../lib/errors.ts'
import type { CallAttributes, TraceSpan, CallObserver } from '../lib/observability/call-trace.ts'
import { parseTraceparent } from './traceparent.ts'

/** Traces of calls as spans. Parents are passed by hand: what runs where is known already. */
export function createTraceStarter(tracer: Tracer): NonNullable<CallObserver['startTrace']> {
  return (facts, traceparent) => {
    const parent = parseTraceparent(traceparent)
    const outside = parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT
    const options = { kind: SpanKind.SERVER, attributes: toSpanAttributes(facts) }
    const name = `${facts.method} ${facts.route}`
    return createTraceSpan(tracer, tracer.startSpan(name, options, outside), outside)
  }
}

function createTraceSpan(tracer: Tracer, span: Span, outside: Context): TraceSpan {
  if (!span.isRecording()) return unsampledSpan(span.spanContext().traceId)
  const inside = trace.setSpan(outside, span)
  return {
    traceId: span.spanContext().traceId,
    startChild: (step, facts) => {
      const kind = step.startsWith('database.') ? SpanKind.CLIENT : SpanKind.INTERNAL
      const child = tracer.startSpan(step, { kind, attributes: toSpanAttributes(facts) }, inside)
      return createTraceSpan(tracer, child, inside)
    },
    addAttributes: (facts) => {
      span.setAttributes(toSpanAttributes(facts))
      if ((facts.status ?? 0) >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
    },
    recordError: (error) => {
      span.setAttribute('error.type', errorTypeOf(error))
      if (isServerError(error)) span.setStatus({ code: SpanStatusCode.ERROR })
    },
    end: () => span.end(),
  }
}

/** A trace that the sampler does not keep: its steps cost nothing, and the log still has its id. */
function unsampledSpan(traceId: string): TraceSpan {
  const nothing = () => undefined
  const own: TraceSpan = {
    traceId,
    startChild: () => own,
    addAttributes: nothing,
    recordError: nothing,
    end: nothing,
  }
  return own
}

/** What each fact is called in a span: the list of all that leaves the process about a call. */
const attributeNames: Readonly<Record<keyof CallAttributes, string>> = {
  requestId: 'facegate.request_id',
  action: 'facegate.action',
  code: 'facegate.code',
  isReplay: 'facegate.replay',
  method: 'http.request.method',
  route: 'http.route',
  status: 'http.response.status_code',
  operation: 'db.operation.name',
}

function toSpanAttributes(facts: CallAttributes): Attributes {
  const known = Object.entries(attributeNames).flatMap(([fact, name]) => {
    const value = facts[fact as keyof CallAttributes]
    return value === undefined ? [] : [[name, value] as const]
  })
  return Object.fromEntries(known)
}

/** Messages of errors may repeat what a caller sent; their codes and classes cannot. */
function errorTypeOf(error: unknown): string {
  if (error instanceof ActionError) return error.code
  if (error instanceof HttpError) return String(error.status)
  return error instanceof Error ? error.constructor.name : 'unknown'
}

/** What the caller did wrong is no fault of this service. */
function isServerError(error: unknown): boolean {
  if (error instanceof ActionError) return false
  return !(error instanceof HttpError) || error.status >= 500
}
