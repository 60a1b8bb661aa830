import type { Services } from '../actions/action.ts'
import type { AdmittedCall, AuthenticatedCall, ReceivedCall } from '../gate/call-states.ts'
import type { Gate } from '../gate/gate.ts'
import type { Settlement } from '../gate/settle.ts'
import type { Log } from '../lib/log.ts'
import { addCallAttributes } from '../lib/observability/call-trace.ts'
import { type Envelope, toEnvelope, toRunnableCall } from './envelope.ts'
import { errorResponse } from './error-response.ts'
import { countedName, readCall, type ReadCallOptions } from './input/read-call.ts'
import type { HttpRequest } from './route.ts'
import { validateCall } from './validate-call.ts'
import { endOfError, rejectCall, runCall, type CallEnd, type RunnableCall } from './run-call.ts'

export type ExecuteOptions = ReadCallOptions & {
  readonly gate: Gate
  readonly services: Services
  readonly log: Log
  /** Receives every envelope, its latency and what the call decided, for the metrics. */
  readonly onCallCompleted: (
    envelope: Envelope,
    durationMs: number,
    decision?: Settlement['decision'],
  ) => void
}

/** Executes one call of an action: from the HTTP request to the envelope. */
export async function execute(request: HttpRequest, options: ExecuteOptions) {
  const { gate, services, log, onCallCompleted } = options
  const startMs = performance.now()
  const caller = await gate.authenticateForAdmission(request) // before the body is read
  const { echoed, content, describeRequest } = await readCall(request, caller, options)
  addCallAttributes({ requestId: echoed.requestId })
  const action = countedName(echoed.action, options.actions)
  const received = { ...echoed, action, startMs, describeRequest }
  const context = { echoed, caller, services, signal: request.signal }
  const end =
    'error' in content
      ? await rejectCall(caller, received, content, gate)
      : content.validateOnly
        ? await validateCall(caller, received, content, { ...context, gate })
        : await executeCall(caller, received, toRunnableCall(content, context), gate)
  if (end.kind === 'failed') {
    const response = errorResponse(end.error, echoed.requestId, log)
    return { ...response, headers: { ...end.headers, ...response.headers } }
  }
  const body = toEnvelope(end, echoed)
  const decision = end.kind === 'settled' ? end.settlement.decision : undefined
  onCallCompleted(body, performance.now() - startMs, decision)
  return { status: 200, headers: { ...end.headers, 'x-request-id': echoed.requestId }, body }
}

/** Admits a call, runs it and settles it; also used by the CompreFace routes. */
export async function executeCall<Outcome, S extends Settlement>(
  caller: AuthenticatedCall['caller'],
  received: ReceivedCall,
  call: RunnableCall<Outcome, S>,
  gate: Gate,
): Promise<CallEnd<S>> {
  let headers: CallEnd<S>['headers'] = {}
  try {
    const result = await gate.admit(caller, received, call) // permissions, rate limit, replay, budget
    headers = result.headers
    if (result.kind === 'replay') return { kind: 'replay', headers, response: result.response }
    if (result.kind === 'rejected') return endOfError(headers, result.error)
    const settlement = await runAndSettle(call, result.admitted, gate)
    return { kind: 'settled', headers, settlement }
  } catch (error) {
    return endOfError(headers, error)
  }
}

/** Runs a call; then writes its effect, its charge and its response in one transaction. */
async function runAndSettle<Outcome, S extends Settlement>(
  call: RunnableCall<Outcome, S>,
  admitted: AdmittedCall,
  gate: Gate,
): Promise<S> {
  try {
    const output = await runCall(call, admitted.call.caller)
    return await gate.settle(admitted, { output, toSettlement: call.toSettlement })
  } catch (error) {
    throw await gate.release(admitted, error)
  }
}
