import { AsyncLocalStorage } from 'node:async_hooks'
import { newId } from '../ids.ts'
import type { DecisionOutcome } from './call-decision.ts'

/** All measured steps of a call. The closed list ensures that no span name contains foreign text. */
export type SpanName =
  | 'gate.authenticate'
  | 'gate.admit'
  | 'gate.settle'
  | 'vision.queue'
  | 'vision.analyze'
  | 'gallery.search'
  | 'database.read'
  | 'database.write'
  | 'database.change'

/**
 * All data about a call and its spans that logs, metrics and traces may contain. Names, images,
 * templates and text of the caller must never be added.
 */
export type CallAttributes = {
  /** A UUID. */
  readonly requestId?: string
  /** An action of the list, or `unknown`. */
  readonly action?: string
  /** A code of the error table, or `OK`. */
  readonly code?: string
  readonly isReplay?: boolean
  /** What the call decided. */
  readonly outcome?: DecisionOutcome
  readonly isNearMiss?: boolean
  readonly method?: string
  /** The route pattern, `/v1/subjects/:externalId`, never the requested path. */
  readonly route?: string
  readonly status?: number
  /** The name of the work of a transaction in the code. */
  readonly operation?: string
}

/** One measured interval of a trace. */
export type TraceSpan = {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  readonly startChild: (name: SpanName, attributes: CallAttributes) => TraceSpan
  readonly addAttributes: (attributes: CallAttributes) => void
  readonly recordError: (error: unknown) => void
  readonly end: () => void
}

/** Receives the spans of running calls. */
export type CallObserver = {
  readonly onSpanEnd?: ((name: SpanName, durationMs: number) => void) | undefined
  /** Starts the trace of a call; `traceparent` is the header of the caller. */
  readonly startTrace?:
    | ((attributes: CallAttributes, traceparent: string | undefined) => TraceSpan)
    | undefined
}

type TracedCall = {
  attributes: CallAttributes
  /** The sum for each step, ms. Empty if nothing observes the steps. */
  readonly durationsMs: Map<SpanName, number>
  readonly observer: CallObserver
  readonly rootSpan: TraceSpan | undefined
}
type TraceScope = { readonly call: TracedCall; readonly span: TraceSpan | undefined }

/** The call and the span of the current asynchronous context. */
const traceScopes = new AsyncLocalStorage<TraceScope>()

export type TraceCallOptions = {
  readonly attributes: CallAttributes
  readonly observer: CallObserver
  readonly traceparent?: string | undefined
}

/** Runs the work as one call. Log lines and spans inside of it are attributed to the call. */
export async function traceCall<T>(
  { attributes, observer, traceparent }: TraceCallOptions,
  work: () => Promise<T>,
): Promise<T> {
  const rootSpan = observer.startTrace?.(attributes, traceparent)
  const call: TracedCall = { attributes, observer, rootSpan, durationsMs: new Map() }
  try {
    return await traceScopes.run({ call, span: rootSpan }, work)
  } catch (error) {
    rootSpan?.recordError(error)
    throw error
  } finally {
    rootSpan?.addAttributes(call.attributes)
    rootSpan?.end()
  }
}

/** Runs the work as a span of the current call; outside of a call it only runs the work. */
export function withSpan<T>(
  name: SpanName,
  work: () => Promise<T>,
  attributes: CallAttributes = {},
): Promise<T> {
  const scope = traceScopes.getStore()
  if (!scope) return work()
  const { call, span: parent } = scope
  return parent
    ? traceWork({ call, span: parent.startChild(name, attributes) }, name, work)
    : measureWork(call, name, work)
}

type SpanScope = TraceScope & { readonly span: TraceSpan }

async function traceWork<T>({ call, span }: SpanScope, name: SpanName, work: () => Promise<T>) {
  const startMs = performance.now()
  try {
    return await traceScopes.run({ call, span }, work)
  } catch (error) {
    span.recordError(error)
    throw error
  } finally {
    span.end()
    endSpan(call, name, startMs)
  }
}

/** Without a trace. It returns the promise of the work, which needs fewer turns than one around it. */
function measureWork<T>(call: TracedCall, name: SpanName, work: () => Promise<T>): Promise<T> {
  if (!call.observer.onSpanEnd) return work()
  const startMs = performance.now()
  const end = () => endSpan(call, name, startMs)
  const result = work()
  result.then(end, end)
  return result
}

function endSpan({ observer, durationsMs }: TracedCall, name: SpanName, startMs: number): void {
  const durationMs = performance.now() - startMs
  durationsMs.set(name, (durationsMs.get(name) ?? 0) + durationMs)
  observer.onSpanEnd?.(name, durationMs)
}

/** Returns the duration of each completed step of the current call, ms; steps of one name are added. */
export function callDurationsMs(): ReadonlyMap<SpanName, number> {
  return traceScopes.getStore()?.call.durationsMs ?? new Map()
}

/** Adds attributes to the current call. */
export function addCallAttributes(attributes: CallAttributes): void {
  const call = traceScopes.getStore()?.call
  if (call) call.attributes = { ...call.attributes, ...attributes }
}

/** Returns the attributes of the current call; empty outside of a call. */
export function currentCallAttributes(): CallAttributes {
  return traceScopes.getStore()?.call.attributes ?? {}
}

/** Returns the id of the current call, or a new one outside of a call. */
export function currentRequestId(): string {
  return currentCallAttributes().requestId ?? newId()
}

/** Returns the fields of every log line within a call; empty outside of a call. */
export function callLogFields(): { readonly requestId?: string; readonly traceId?: string } {
  const call = traceScopes.getStore()?.call
  if (!call) return {}
  const { requestId } = call.attributes
  return {
    ...(requestId && { requestId }),
    ...(call.rootSpan && { traceId: call.rootSpan.traceId }),
  }
}

/**
 * Binds a job of a queue to the trace of the current call. It takes less time than `bindToCall`, which
 * binds every asynchronous context.
 */
export function bindJobToCall<Args extends unknown[], T>(
  job: (...args: Args) => T,
): (...args: Args) => T {
  const scope = traceScopes.getStore()
  return scope ? (...args) => traceScopes.run(scope, job, ...args) : bindToCall(job)
}

/** Binds work that runs later to the current call, or to none. */
export function bindToCall<Args extends unknown[], T>(
  work: (...args: Args) => T,
): (...args: Args) => T {
  return AsyncLocalStorage.bind(work)
}
