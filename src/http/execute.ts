import { ActionError, HttpError } from '../lib/errors.ts'
import type { Caller, Services } from '../actions/action.ts'
import type { Pass } from '../gate/arrival.ts'
import type { Gate } from '../gate/gate.ts'
import type { Log } from '../lib/log.ts'
import { readCall, type Call, type Echo, type ReadOptions } from './call.ts'
import { answered, failed, replayed, type Envelope } from './envelope.ts'
import type { Answer, Request } from './exchange.ts'
import { refusal } from './refusal.ts'

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
  let headers: Answer['headers'] = {}
  try {
    await atStep?.('enter')
    const entry = await gate.enter(caller, { ...echo, startMs, asked }) // permit, limit, replay, afford
    headers = entry.headers
    if (entry.kind === 'replay') return leave(replayed(entry.answer, echo.requestId))
    if (entry.kind === 'refused') throw entry.error
    if ('error' in asked) throw asked.error // never here: the gate has refused it
    const envelope = await work({ call: asked, echo, caller, request }, entry.pass, options)
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

type Work = {
  readonly call: Call
  readonly echo: Echo
  readonly caller: Caller
  readonly request: Request
}

/** The action runs; then its effect, the charge and its answer are written together, or nothing. */
async function work(todo: Work, pass: Pass, options: ExecuteOptions): Promise<Envelope> {
  const { gate, atStep } = options
  try {
    await atStep?.('run')
    const { answer, effect } = await run(todo, options.services)
    await atStep?.('settle')
    return await gate.settle(pass, { answer, effect, failed: (error) => failed(todo.echo, error) })
  } catch (error) {
    throw await gate.release(pass, error)
  }
}

async function run({ call, echo, caller, request }: Work, services: Services) {
  const { action, params } = call
  try {
    const { outcomes, effect } = await action.run({
      params,
      caller,
      services,
      signal: request.signal,
    })
    return { answer: answered(echo, outcomes), effect }
  } catch (error) {
    if (error instanceof ActionError) return { answer: failed(echo, error), effect: undefined }
    if (request.signal.aborted) throw new HttpError(499, 'The client is gone.', { cause: error })
    throw error
  }
}
