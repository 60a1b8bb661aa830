import { ActionError } from '../lib/errors.ts'
import type { Services } from '../actions/action.ts'
import type { Pass } from '../gate/arrival.ts'
import type { Gate } from '../gate/gate.ts'
import type { Log } from '../lib/log.ts'
import { note } from '../lib/trace.ts'
import { readCall, type ReadOptions } from './call.ts'
import { failed, replayed, type Envelope } from './envelope.ts'
import type { Answer, Request } from './exchange.ts'
import { refusal } from './refusal.ts'
import { run, type Work } from './run.ts'

export type ExecuteOptions = ReadOptions & {
  readonly gate: Gate
  readonly services: Services
  readonly log: Log
  /** Told of every envelope that leaves and of what it cost in time, for the metrics. */
  readonly onAnswered: (envelope: Envelope, durationMs: number) => void
  /** Awaited before each step, so that tests can make a call fail there. */
  readonly atStep?: (step: 'read' | 'enter' | 'run' | 'settle' | 'leave') => Promise<void> | void
}

/** One call, from socket to envelope. */
export async function execute(request: Request, options: ExecuteOptions): Promise<Answer> {
  const { gate, log, onAnswered, atStep } = options
  const startMs = performance.now()
  const caller = await gate.identify(request) // strangers cost nothing
  await atStep?.('read')
  const { echo, asked } = await readCall(request, options) // what is wrong waits for its turn
  note({ requestId: echo.requestId })
  let headers: Answer['headers'] = {}
  try {
    await atStep?.('enter')
    const entry = await gate.enter(caller, { ...echo, startMs, asked }) // permit, limit, replay, afford
    headers = entry.headers
    if (entry.kind === 'replay') return leave(replayed(entry.answer, echo.requestId))
    if (entry.kind === 'refused') throw entry.error
    if ('error' in asked) throw asked.error // never here: the gate has refused it
    const work = { call: asked, echo, caller, request }
    const envelope = await runAndSettle(work, entry.pass, options)
    await atStep?.('leave')
    return leave(envelope)
  } catch (error) {
    if (error instanceof ActionError) return leave(failed(echo, error))
    const refused = refusal(error, echo.requestId, log)
    return { ...refused, headers: { ...headers, ...refused.headers } }
  }

  function leave(envelope: Envelope): Answer {
    onAnswered(envelope, performance.now() - startMs)
    const trace = { 'x-request-id': envelope.requestId }
    return { status: 200, headers: { ...headers, ...trace }, body: envelope }
  }
}

/** The action runs; then its effect, the charge and its answer are written, all or nothing. */
async function runAndSettle(
  work: Work,
  pass: Pass,
  { gate, services, atStep }: ExecuteOptions,
): Promise<Envelope> {
  try {
    await atStep?.('run')
    const result = await run(work, services)
    await atStep?.('settle')
    return await gate.settle(pass, result)
  } catch (error) {
    throw await gate.release(pass, error)
  }
}
