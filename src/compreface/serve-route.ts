import type { Caller, Services } from '../actions/action.ts'
import type { Admission } from '../gate/incoming-call.ts'
import { outcomeEnvelope, errorEnvelope, type Envelope } from '../http/envelope.ts'
import type { HttpResponse, HttpRequest, Route } from '../http/route.ts'
import type { ExecuteOptions } from '../http/execute.ts'
import { ActionError, HttpError } from '../lib/errors.ts'
import { newId } from '../lib/ids.ts'
import { addCallAttributes } from '../lib/observability/call-trace.ts'
import { runAsAccount } from '../lib/account-context.ts'
import type { Score } from '../store/gate/hourly-counts.ts'
import type { Tx } from '../store/tx.ts'
import { compreFaceErrorResponse } from './error-response.ts'

/** A route of CompreFace: it understands its request as work that the gate may let pass. */
export type CompreFaceRoute = {
  readonly method: Route['method']
  readonly path: string
  /** Of what went well. */
  readonly status: 200 | 201
  /** @throws ActionError or HttpError when the request makes no sense; the gate is told so. */
  readonly parse: (asked: CompreFaceRequest) => Promise<CompreFaceCall> | CompreFaceCall
}

/** A request of a known key, its body unread. */
export type CompreFaceRequest = {
  readonly request: HttpRequest
  readonly caller: Caller
  readonly options: CompreFaceOptions
}

export type CompreFaceOptions = Pick<
  ExecuteOptions,
  'gate' | 'services' | 'log' | 'bodyBytesMax' | 'jsonLimits' | 'onCallCompleted'
>

/** What a request comes down to: one call, with one price, one row in the log and one end. */
export type CompreFaceCall = {
  /** By which it is priced, logged and counted: an action, or `METHOD /path` where nothing costs. */
  readonly name: string
  readonly permissions: readonly string[]
  /** Price units, when it goes well. */
  readonly units: number
  readonly params: object
  readonly run: (at: CallContext) => Promise<CompreFaceResult>
}

export type CallContext = {
  readonly caller: Caller
  readonly services: Services
  readonly signal: AbortSignal
}

export type CompreFaceResult = {
  /** Writes what is to be written, in one transaction with the charge, and says the answer. */
  readonly effect: (tx: Tx) => Promise<CompreFaceReply> | CompreFaceReply
  readonly afterCommit?: (() => Promise<void>) | undefined
}

type CompreFaceReply = { readonly body: unknown; readonly scores?: readonly Score[] }

/** A route of the server: the gate's questions, the work, the charge, the log row. */
export function serveRoute(route: CompreFaceRoute, options: CompreFaceOptions): Route {
  const { method, path } = route
  return { method, path, handle: (request) => handleRequest(route, request, options) }
}

async function handleRequest(
  route: CompreFaceRoute,
  request: HttpRequest,
  options: CompreFaceOptions,
) {
  const requestId = newId()
  addCallAttributes({ requestId })
  const startMs = performance.now()
  const trace = { 'x-request-id': requestId }
  let headers: HttpResponse['headers'] = trace
  try {
    const caller = await options.gate.authenticate(request) // strangers cost nothing
    const asked = await parseRequest(route, { request, caller, options })
    const action = 'error' in asked ? routeName(route) : asked.work.name
    const entry = await options.gate.admit(caller, { requestId, startMs, action, parsed: asked })
    headers = { ...entry.headers, ...trace }
    if (entry.kind === 'rejected') throw entry.error
    if (entry.kind === 'replay' || 'error' in asked) throw new Error('nothing is asked twice here')
    const at = { caller, services: options.services, signal: request.signal }
    const done = await runAndSettle(asked.work, at, { admission: entry.admission, options })
    options.onCallCompleted(done.envelope, performance.now() - startMs)
    if (done.error) throw done.error
    return { status: route.status, headers, body: done.body }
  } catch (error) {
    const refused = compreFaceErrorResponse(error, requestId, options.log)
    return { ...refused, headers: { ...headers, ...refused.headers } }
  }
}

export function routeName({ method, path }: Pick<CompreFaceRoute, 'method' | 'path'>): string {
  return `${method} ${path}`
}

/** What is wrong with a request waits for its turn: first it is told what it may not do. */
async function parseRequest(route: CompreFaceRoute, asked: CompreFaceRequest) {
  try {
    const work = await route.parse(asked)
    const { params, permissions, units } = work
    return { work, params, permissions, debug: false, action: { price: () => units } }
  } catch (error) {
    return { error }
  }
}

type SettleContext = { readonly admission: Admission; readonly options: CompreFaceOptions }

type SettledCall = {
  readonly envelope: Envelope
  readonly body?: unknown
  readonly error?: ActionError | undefined
}

/**
 * The work; then its effect, the charge and the log row, all or nothing. A request has no id of its
 * own, so that nobody can ask for its answer again: what is kept of it says nothing of anybody.
 */
async function runAndSettle(
  work: CompreFaceCall,
  at: CallContext,
  settling: SettleContext,
): Promise<SettledCall> {
  const { admission: pass, options } = settling
  const echo = { requestId: pass.requestId, action: work.name }
  let body: unknown
  let refused: ActionError | undefined
  const refuse = (error: ActionError): Envelope => {
    refused = error
    return errorEnvelope(echo, error)
  }
  try {
    const { effect, afterCommit: afterwards } = await runAsAccount(at.caller.accountId, () =>
      runCall(work, at),
    )
    const conclude = async (tx: Tx) => {
      const told = await effect(tx)
      body = told.body
      const outcome = { correlationId: undefined, value: {} }
      return { response: outcomeEnvelope(echo, [outcome]), scores: told.scores ?? [] }
    }
    const envelope = await options.gate.settle(pass, {
      applyEffects: conclude,
      toErrorResponse: refuse,
      afterCommit: afterwards,
    })
    return { envelope, body, error: refused }
  } catch (error) {
    throw await options.gate.release(pass, error)
  }
}

/** A failure of the work is an end like any other: it is logged, and costs nothing. */
async function runCall(work: CompreFaceCall, at: CallContext): Promise<CompreFaceResult> {
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
