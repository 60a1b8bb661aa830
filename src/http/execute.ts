import { ActionError } from '../lib/errors.ts'
import type { Services } from '../actions/action.ts'
import type { Admission } from '../gate/incoming-call.ts'
import type { Gate } from '../gate/gate.ts'
import type { Log } from '../lib/log.ts'
import { addCallAttributes } from '../lib/observability/call-trace.ts'
import { readCall, type ReadCallOptions } from './input/read-call.ts'
import { errorEnvelope, replayEnvelope, type Envelope } from './envelope.ts'
import type { HttpResponse, HttpRequest } from './route.ts'
import { errorResponse } from './error-response.ts'
import { runAction, type AdmittedCall } from './run-action.ts'

export type ExecuteOptions = ReadCallOptions & {
  readonly gate: Gate
  readonly services: Services
  readonly log: Log
  /** Told of every envelope that leaves and of what it cost in time, for the metrics. */
  readonly onCallCompleted: (envelope: Envelope, durationMs: number) => void
  /** Awaited before each step, so that tests can make a call fail there. */
  readonly atStep?: (step: 'read' | 'enter' | 'run' | 'settle' | 'leave') => Promise<void> | void
}

/** One call, from socket to envelope. */
export async function execute(
  request: HttpRequest,
  options: ExecuteOptions,
): Promise<HttpResponse> {
  const { gate, log, onCallCompleted: onAnswered, atStep } = options
  const startMs = performance.now()
  const caller = await gate.authenticate(request) // strangers cost nothing
  await atStep?.('read')
  const { echo, asked } = await readCall(request, options) // what is wrong waits for its turn
  addCallAttributes({ requestId: echo.requestId })
  let headers: HttpResponse['headers'] = {}
  try {
    await atStep?.('enter')
    const entry = await gate.admit(caller, { ...echo, startMs, parsed: asked }) // permit, limit, replay, afford
    headers = entry.headers
    if (entry.kind === 'replay') return leave(replayEnvelope(entry.response, echo.requestId))
    if (entry.kind === 'rejected') throw entry.error
    if ('error' in asked) throw asked.error // never here: the gate has refused it
    const work = { call: asked, echo, caller, request }
    const envelope = await runAndSettle(work, entry.admission, options)
    await atStep?.('leave')
    return leave(envelope)
  } catch (error) {
    if (error instanceof ActionError) return leave(errorEnvelope(echo, error))
    const refused = errorResponse(error, echo.requestId, log)
    return { ...refused, headers: { ...headers, ...refused.headers } }
  }

  function leave(envelope: Envelope): HttpResponse {
    onAnswered(envelope, performance.now() - startMs)
    const trace = { 'x-request-id': envelope.requestId }
    return { status: 200, headers: { ...headers, ...trace }, body: envelope }
  }
}

/** The action runs; then its effect, the charge and its answer are written, all or nothing. */
async function runAndSettle(
  work: AdmittedCall,
  pass: Admission,
  { gate, services, atStep }: ExecuteOptions,
): Promise<Envelope> {
  try {
    await atStep?.('run')
    const result = await runAction(work, services)
    await atStep?.('settle')
    return await gate.settle(pass, result)
  } catch (error) {
    throw await gate.release(pass, error)
  }
}
