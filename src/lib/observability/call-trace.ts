import { AsyncLocalStorage } from 'node:async_hooks'

/** The steps of a call whose time is worth knowing: one list, so that no name is made of a text. */
export type SpanName =
  | 'gate.authenticate'
  | 'gate.admit'
  | 'gate.settle'
  | 'vision.queue'
  | 'vision.work'
  | 'gallery.search'
  | 'database.read'
  | 'database.write'
  | 'database.change'

/**
 * All that logs, metrics and traces may say of a call and its steps. A name, a picture, a template
 * or a text of the caller has no place here; whoever notes a fact answers for that.
 */
export type CallAttributes = {
  /** A UUID. */
  readonly requestId?: string
  /** Of the list of actions; `unknown` for whatever else was asked. */
  readonly action?: string
  /** Of the table of errors, or `OK`. */
  readonly code?: string
  readonly isReplay?: boolean
  readonly method?: string
  /** The route as it was written down, `/v1/subjects/:externalId`, never the path that was asked. */
  readonly route?: string
  readonly status?: number
  /** What the code calls the work of a transaction. */
  readonly operation?: string
}

/** One stretch of time in a trace. */
export type TraceSpan = {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  readonly startChild: (step: SpanName, facts: CallAttributes) => TraceSpan
  readonly addAttributes: (facts: CallAttributes) => void
  readonly recordError: (error: unknown) => void
  readonly end: () => void
}

/** What is told of calls while they run. */
export type CallObserver = {
  readonly onSpanEnd?: ((step: SpanName, durationMs: number) => void) | undefined
  /** Begins the trace of a whole call; `traceparent` is the caller's header. */
  readonly startTrace?:
    | ((facts: CallAttributes, traceparent: string | undefined) => TraceSpan)
    | undefined
}

type TracedCall = {
  attributes: CallAttributes
  readonly observer: CallObserver
  readonly rootSpan: TraceSpan | undefined
}
type TraceScope = { readonly call: TracedCall; readonly span: TraceSpan | undefined }

/** Where in which call the code runs. */
const traceScopes = new AsyncLocalStorage<TraceScope>()

export type TraceCallOptions = {
  readonly attributes: CallAttributes
  readonly observer: CallObserver
  readonly traceparent?: string | undefined
}

/** Runs the work as one call: whatever is logged or takes time in it is known to belong to it. */
export async function traceCall<T>(
  { attributes: facts, observer: watch, traceparent }: TraceCallOptions,
  work: () => Promise<T>,
): Promise<T> {
  const whole = watch.startTrace?.(facts, traceparent)
  const call: TracedCall = { attributes: facts, observer: watch, rootSpan: whole }
  try {
    return await traceScopes.run({ call, span: whole }, work)
  } catch (error) {
    whole?.recordError(error)
    throw error
  } finally {
    whole?.addAttributes(call.attributes)
    whole?.end()
  }
}

/** A step of the call that the code runs in; outside of calls just the work. */
export async function withSpan<T>(
  step: SpanName,
  work: () => Promise<T>,
  facts: CallAttributes = {},
): Promise<T> {
  const place = traceScopes.getStore()
  if (!place) return work()
  const { call } = place
  const startMs = performance.now()
  const here = place.span?.startChild(step, facts)
  try {
    return await (here ? traceScopes.run({ call, span: here }, work) : work())
  } catch (error) {
    here?.recordError(error)
    throw error
  } finally {
    here?.end()
    call.observer.onSpanEnd?.(step, performance.now() - startMs)
  }
}

/** Adds to what is known of the call that the code runs in. */
export function addCallAttributes(facts: CallAttributes): void {
  const call = traceScopes.getStore()?.call
  if (call) call.attributes = { ...call.attributes, ...facts }
}

/** What is known of the call that the code runs in. */
export function currentCallAttributes(): CallAttributes {
  return traceScopes.getStore()?.call.attributes ?? {}
}

/** What every line of the log says of the call that it was written in; nothing outside of calls. */
export function callLogFields(): { readonly requestId?: string; readonly traceId?: string } {
  const call = traceScopes.getStore()?.call
  if (!call) return {}
  const { requestId } = call.attributes
  return {
    ...(requestId && { requestId }),
    ...(call.rootSpan && { traceId: call.rootSpan.traceId }),
  }
}

/** Keeps work that others will run, such as a job in a queue, in the call that it was made in. */
export function bindToCall<Args extends unknown[], T>(
  work: (...args: Args) => T,
): (...args: Args) => T {
  return AsyncLocalStorage.bind(work)
}
