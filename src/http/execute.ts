import type { Services } from '../actions/action.ts'
import type { Gate } from '../gate/gate.ts'
import type { Settlement } from '../gate/settle.ts'
import type { Log } from '../lib/log.ts'
import { addCallAttributes } from '../lib/observability/call-trace.ts'
import { type Envelope, toEnvelope, toRunnableCall } from './envelope.ts'
import { errorResponse } from './error-response.ts'
import { countedName, readCall, type ReadCallOptions } from './input/read-call.ts'
import type { HttpRequest } from './route.ts'
import { validateCall } from './validate-call.ts'
import { runCall } from './run-call.ts'

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
  const incoming = { caller, received, gate }
  const context = { echoed, caller, services, signal: request.signal }
  const end =
    'validateOnly' in content && content.validateOnly
      ? await validateCall(incoming, content, context)
      : await runCall(incoming, 'error' in content ? content : toRunnableCall(content, context))
  if (end.kind === 'failed') {
    const response = errorResponse(end.error, echoed.requestId, log)
    return { ...response, headers: { ...end.headers, ...response.headers } }
  }
  const body = toEnvelope(end, echoed)
  const decision = end.kind === 'completed' ? end.result.decision : undefined
  onCallCompleted(body, performance.now() - startMs, decision)
  return { status: 200, headers: { ...end.headers, 'x-request-id': echoed.requestId }, body }
}
