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
import type { Facts, Trace, Watch } from '../lib/trace.ts'
import { parentOf } from './traceparent.ts'

/** Traces of calls as spans. Parents are passed by hand: what runs where is known already. */
export function beginTraces(tracer: Tracer): NonNullable<Watch['trace']> {
  return (facts, traceparent) => {
    const parent = parentOf(traceparent)
    const outside = parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT
    const options = { kind: SpanKind.SERVER, attributes: attributesOf(facts) }
    const name = `${facts.method} ${facts.route}`
    return traceOf(tracer, tracer.startSpan(name, options, outside), outside)
  }
}

function traceOf(tracer: Tracer, span: Span, outside: Context): Trace {
  if (!span.isRecording()) return unkept(span.spanContext().traceId)
  const inside = trace.setSpan(outside, span)
  return {
    traceId: span.spanContext().traceId,
    begin: (step, facts) => {
      const kind = step.startsWith('database.') ? SpanKind.CLIENT : SpanKind.INTERNAL
      const child = tracer.startSpan(step, { kind, attributes: attributesOf(facts) }, inside)
      return traceOf(tracer, child, inside)
    },
    note: (facts) => {
      span.setAttributes(attributesOf(facts))
      if ((facts.status ?? 0) >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
    },
    fail: (error) => {
      span.setAttribute('error.type', kindOf(error))
      if (isFault(error)) span.setStatus({ code: SpanStatusCode.ERROR })
    },
    end: () => span.end(),
  }
}

/** A trace that the sampler does not keep: its steps cost nothing, and the log still has its id. */
function unkept(traceId: string): Trace {
  const nothing = () => undefined
  const own: Trace = { traceId, begin: () => own, note: nothing, fail: nothing, end: nothing }
  return own
}

/** What each fact is called in a span: the list of all that leaves the process about a call. */
const attributeNames: Readonly<Record<keyof Facts, string>> = {
  requestId: 'facegate.request_id',
  action: 'facegate.action',
  code: 'facegate.code',
  isReplay: 'facegate.replay',
  method: 'http.request.method',
  route: 'http.route',
  status: 'http.response.status_code',
  job: 'db.operation.name',
}

function attributesOf(facts: Facts): Attributes {
  const known = Object.entries(attributeNames).flatMap(([fact, name]) => {
    const value = facts[fact as keyof Facts]
    return value === undefined ? [] : [[name, value] as const]
  })
  return Object.fromEntries(known)
}

/** Messages of errors may repeat what a caller sent; their codes and classes cannot. */
function kindOf(error: unknown): string {
  if (error instanceof ActionError) return error.code
  if (error instanceof HttpError) return String(error.status)
  return error instanceof Error ? error.constructor.name : 'unknown'
}

/** What the caller did wrong is no fault of this service. */
function isFault(error: unknown): boolean {
  if (error instanceof ActionError) return false
  return !(error instanceof HttpError) || error.status >= 500
}
