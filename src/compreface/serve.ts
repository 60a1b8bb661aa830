import type { Caller, Services } from '../actions/action.ts'
import type { Pass } from '../gate/arrival.ts'
import { answered, failed, type Envelope } from '../http/envelope.ts'
import type { Answer, Request, Route } from '../http/exchange.ts'
import type { ExecuteOptions } from '../http/execute.ts'
import { ActionError, HttpError } from '../lib/errors.ts'
import { newId } from '../lib/ids.ts'
import { note } from '../lib/trace.ts'
import { inAccount } from '../lib/account.ts'
import type { Score } from '../store/hours.ts'
import type { Tx } from '../store/tx.ts'
import { refusalOf } from './refusal.ts'

/** A route of CompreFace: it understands its request as work that the gate may let pass. */
export type CompreFaceRoute = {
  readonly method: Route['method']
  readonly path: string
  /** Of what went well. */
  readonly status: 200 | 201
  /** @throws ActionError or HttpError when the request makes no sense; the gate is told so. */
  readonly understand: (asked: Asked) => Promise<Work> | Work
}

/** A request of a known key, its body unread. */
export type Asked = {
  readonly request: Request
  readonly caller: Caller
  readonly options: ServeOptions
}

export type ServeOptions = Pick<
  ExecuteOptions,
  'gate' | 'services' | 'log' | 'bodyBytesMax' | 'json' | 'onAnswered'
>

/** What a request comes down to: one call, with one price, one row in the log and one end. */
export type Work = {
  /** By which it is priced, logged and counted: an action, or `METHOD /path` where nothing costs. */
  readonly name: string
  readonly permissions: readonly string[]
  /** Price units, when it goes well. */
  readonly units: number
  readonly params: object
  readonly run: (at: Workplace) => Promise<Finished>
}

export type Workplace = {
  readonly caller: Caller
  readonly services: Services
  readonly signal: AbortSignal
}

export type Finished = {
  /** Writes what is to be written, in one transaction with the charge, and says the answer. */
  readonly effect: (tx: Tx) => Promise<Told> | Told
  readonly afterwards?: (() => Promise<void>) | undefined
}

type Told = { readonly body: unknown; readonly scores?: readonly Score[] }

/** A route of the server: the gate's questions, the work, the charge, the log row. */
export function serve(route: CompreFaceRoute, options: ServeOptions): Route {
  const { method, path } = route
  return { method, path, handle: (request) => answer(route, request, options) }
}

async function answer(route: CompreFaceRoute, request: Request, options: ServeOptions) {
  const requestId = newId()
  note({ requestId })
  const startMs = performance.now()
  const trace = { 'x-request-id': requestId }
  let headers: Answer['headers'] = trace
  try {
    const caller = await options.gate.identify(request) // strangers cost nothing
    const asked = await understood(route, { request, caller, options })
    const action = 'error' in asked ? nameOf(route) : asked.work.name
    const entry = await options.gate.enter(caller, { requestId, startMs, action, asked })
    headers = { ...entry.headers, ...trace }
    if (entry.kind === 'refused') throw entry.error
    if (entry.kind === 'replay' || 'error' in asked) throw new Error('nothing is asked twice here')
    const at = { caller, services: options.services, signal: request.signal }
    const done = await workAndSettle(asked.work, at, { pass: entry.pass, options })
    options.onAnswered(done.envelope, performance.now() - startMs)
    if (done.error) throw done.error
    return { status: route.status, headers, body: done.body }
  } catch (error) {
    const refused = refusalOf(error, requestId, options.log)
    return { ...refused, headers: { ...headers, ...refused.headers } }
  }
}

export function nameOf({ method, path }: Pick<CompreFaceRoute, 'method' | 'path'>): string {
  return `${method} ${path}`
}

/** What is wrong with a request waits for its turn: first it is told what it may not do. */
async function understood(route: CompreFaceRoute, asked: Asked) {
  try {
    const work = await route.understand(asked)
    const { params, permissions, units } = work
    return { work, params, permissions, debug: false, action: { price: () => units } }
  } catch (error) {
    return { error }
  }
}

type Settling = { readonly pass: Pass; readonly options: ServeOptions }

type Settled = {
  readonly envelope: Envelope
  readonly body?: unknown
  readonly error?: ActionError | undefined
}

/**
 * The work; then its effect, the charge and the log row, all or nothing. A request has no id of its
 * own, so that nobody can ask for its answer again: what is kept of it says nothing of anybody.
 */
async function workAndSettle(work: Work, at: Workplace, settling: Settling): Promise<Settled> {
  const { pass, options } = settling
  const echo = { requestId: pass.requestId, action: work.name }
  let body: unknown
  let refused: ActionError | undefined
  const refuse = (error: ActionError): Envelope => {
    refused = error
    return failed(echo, error)
  }
  try {
    const { effect, afterwards } = await inAccount(at.caller.accountId, () => finish(work, at))
    const conclude = async (tx: Tx) => {
      const told = await effect(tx)
      body = told.body
      const outcome = { correlationId: undefined, value: {} }
      return { answer: answered(echo, [outcome]), scores: told.scores ?? [] }
    }
    const envelope = await options.gate.settle(pass, { conclude, failed: refuse, afterwards })
    return { envelope, body, error: refused }
  } catch (error) {
    throw await options.gate.release(pass, error)
  }
}

/** A failure of the work is an end like any other: it is logged, and costs nothing. */
async function finish(work: Work, at: Workplace): Promise<Finished> {
  try {
    return await work.run(at)
  } catch (error) {
    if (at.signal.aborted && !(error instanceof ActionError))
      throw new HttpError(499, 'The client is gone.', { cause: error })
    if (!(error instanceof ActionError)) throw error
    return {
      effect: () => {
        throw error
      },
    }
  }
}
