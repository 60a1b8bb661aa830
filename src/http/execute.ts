import type { Services } from '../actions/action.ts'
import type { Gate } from '../gate/gate.ts'
import type { Admission } from '../gate/incoming-call.ts'
import type { Settlement } from '../gate/settle.ts'
import { ActionError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { addCallAttributes } from '../lib/observability/call-trace.ts'
import { toEnvelope, type Envelope } from './envelope.ts'
import { errorResponse } from './error-response.ts'
import { readCall, type ReadCallOptions } from './input/read-call.ts'
import type { HttpRequest } from './route.ts'
import { toRunnableCall } from './run-action.ts'
import { runCall } from './run-call.ts'
import type { CallEnd, CallToExecute, RunnableCall } from './run-call.ts'

export type ExecuteOptions = ReadCallOptions & {
  readonly gate: Gate
  readonly services: Services
  readonly log: Log
  /** Receives every envelope and its latency, for the metrics. */
  readonly onCallCompleted: (envelope: Envelope, durationMs: number) => void
}

/** Executes one call of an action: from the HTTP request to the envelope. */
export async function execute(request: HttpRequest, options: ExecuteOptions) {
  const { gate, services, log, onCallCompleted } = options
  const startMs = performance.now()
  const caller = await gate.authenticateForAdmission(request) // before the body is read
  const { echoed, parsed, describeRequest } = await readCall(request, caller, options)
  addCallAttributes({ requestId: echoed.requestId })
  const call = toRunnableCall(parsed, { echoed, caller, services, signal: request.signal })
  const incoming = { ...echoed, startMs, parsed: call, describeRequest } // the gate rejects errors
  const end = await executeCall(caller, incoming, gate)
  if (end.kind === 'failed') {
    const response = errorResponse(end.error, echoed.requestId, log)
    return { ...response, headers: { ...end.headers, ...response.headers } }
  }
  const body = toEnvelope(end, echoed)
  onCallCompleted(body, performance.now() - startMs)
  return { status: 200, headers: { ...end.headers, 'x-request-id': echoed.requestId }, body }
}

/** Admits a call, runs it and settles it; also used by the CompreFace routes. */
export async function executeCall<Outcome, S extends Settlement>(
  caller: Admission['call']['caller'],
  call: CallToExecute<Outcome, S>,
  gate: Gate,
): Promise<CallEnd<S>> {
  let headers: CallEnd<S>['headers'] = {}
  try {
    const decision = await gate.admit(caller, call) // permissions, rate limit, replay, budget
    headers = decision.headers
    if (decision.kind === 'replay') return { kind: 'replay', headers, response: decision.response }
    if (decision.kind === 'rejected') throw decision.error
    if ('error' in call.parsed) throw call.parsed.error // unreachable: the gate has rejected it
    const settlement = await runAndSettle(call.parsed, decision.admission, gate)
    return { kind: 'settled', headers, settlement }
  } catch (error) {
    if (error instanceof ActionError) {
      const { retryAfterS } = error
      const retryAfter = retryAfterS !== undefined && { 'retry-after': String(retryAfterS) }
      return { kind: 'rejected', headers: { ...headers, ...retryAfter }, error }
    }
    return { kind: 'failed', headers, error }
  }
}

/** Runs a call; then writes its effect, its charge and its response in one transaction. */
async function runAndSettle<Outcome, S extends Settlement>(
  call: RunnableCall<Outcome, S>,
  admission: Admission,
  gate: Gate,
): Promise<S> {
  try {
    const output = await runCall(call, admission.call.caller)
    return await gate.settle(admission, { output, toSettlement: call.toSettlement })
  } catch (error) {
    throw await gate.release(admission, error)
  }
}
