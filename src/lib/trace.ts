import { AsyncLocalStorage } from 'node:async_hooks'

/** The steps of a call whose time is worth knowing: one list, so that no name is made of a text. */
export type Step =
  | 'gate.identify'
  | 'gate.enter'
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
export type Facts = {
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
  readonly job?: string
}

/** One stretch of time in a trace. */
export type Trace = {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  readonly begin: (step: Step, facts: Facts) => Trace
  readonly note: (facts: Facts) => void
  readonly fail: (error: unknown) => void
  readonly end: () => void
}

/** What is told of calls while they run. */
export type Watch = {
  readonly onStep?: ((step: Step, durationMs: number) => void) | undefined
  /** Begins the trace of a whole call; `traceparent` is the caller's header. */
  readonly trace?: ((facts: Facts, traceparent: string | undefined) => Trace) | undefined
}

type Call = { facts: Facts; readonly watch: Watch; readonly whole: Trace | undefined }
type Place = { readonly call: Call; readonly here: Trace | undefined }

/** Where in which call the code runs. */
const places = new AsyncLocalStorage<Place>()

export type CallStart = {
  readonly facts: Facts
  readonly watch: Watch
  readonly traceparent?: string | undefined
}

/** Runs the work as one call: whatever is logged or takes time in it is known to belong to it. */
export async function inCall<T>(
  { facts, watch, traceparent }: CallStart,
  work: () => Promise<T>,
): Promise<T> {
  const whole = watch.trace?.(facts, traceparent)
  const call: Call = { facts, watch, whole }
  try {
    return await places.run({ call, here: whole }, work)
  } catch (error) {
    whole?.fail(error)
    throw error
  } finally {
    whole?.note(call.facts)
    whole?.end()
  }
}

/** A step of the call that the code runs in; outside of calls just the work. */
export async function span<T>(step: Step, work: () => Promise<T>, facts: Facts = {}): Promise<T> {
  const place = places.getStore()
  if (!place) return work()
  const { call } = place
  const startMs = performance.now()
  const here = place.here?.begin(step, facts)
  try {
    return await (here ? places.run({ call, here }, work) : work())
  } catch (error) {
    here?.fail(error)
    throw error
  } finally {
    here?.end()
    call.watch.onStep?.(step, performance.now() - startMs)
  }
}

/** Adds to what is known of the call that the code runs in. */
export function note(facts: Facts): void {
  const call = places.getStore()?.call
  if (call) call.facts = { ...call.facts, ...facts }
}

/** What is known of the call that the code runs in. */
export function noted(): Facts {
  return places.getStore()?.call.facts ?? {}
}

/** What every line of the log says of the call that it was written in; nothing outside of calls. */
export function callFields(): { readonly requestId?: string; readonly traceId?: string } {
  const call = places.getStore()?.call
  if (!call) return {}
  const { requestId } = call.facts
  return { ...(requestId && { requestId }), ...(call.whole && { traceId: call.whole.traceId }) }
}

/** Keeps work that others will run, such as a job in a queue, in the call that it was made in. */
export function bound<Args extends unknown[], T>(work: (...args: Args) => T): (...args: Args) => T {
  return AsyncLocalStorage.bind(work)
}
