import type { Services } from '../actions/action.ts'
import type { Gate } from '../gate/gate.ts'
import { ActionError, HttpError } from '../lib/errors.ts'
import { newId } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import { readBody } from './body.ts'
import { echoOf, parseCall, type Echo } from './call.ts'
import { answered, failed, type Envelope } from './envelope.ts'
import type { Answer, Request } from './exchange.ts'
import { parseJson, type JsonLimits } from './json.ts'
import { refusal } from './refusal.ts'

export type ExecuteOptions = {
  readonly gate: Gate
  readonly services: Services
  readonly bodyBytesMax: number
  readonly json: JsonLimits
  readonly log: Log
  /** Told of every envelope that leaves and of what it cost in time, for the metrics. */
  readonly onAnswered: (envelope: Envelope, durationMs: number) => void
}

/** One call, from socket to envelope. */
export async function execute(request: Request, options: ExecuteOptions): Promise<Answer> {
  const { gate, services, log, onAnswered } = options
  const startMs = performance.now()
  const caller = await gate.identify(request.headers['x-api-key']) // strangers cost nothing
  let echo: Echo = { requestId: newId(), action: '' }
  try {
    const body = await readDecoded(request, options) // decode failures leave here
    echo = echoOf(body)
    const call = parseCall(body, echo.requestId)
    await gate.enter(caller, call)
    const { signal } = request
    const outcomes = await call.action.run({ params: call.params, caller, services, signal })
    return leave(answered(echo, outcomes))
  } catch (error) {
    if (error instanceof ActionError) return leave(failed(echo, error))
    if (request.signal.aborted) throw new HttpError(499, 'The client is gone.', { cause: error })
    return refusal(error, echo.requestId, log)
  }

  function leave(envelope: Envelope): Answer {
    onAnswered(envelope, performance.now() - startMs)
    return { status: 200, headers: { 'x-request-id': envelope.requestId }, body: envelope }
  }
}

/** @throws HttpError 400, 413 or 415. */
async function readDecoded(
  request: Request,
  { bodyBytesMax, json }: ExecuteOptions,
): Promise<Readonly<Record<string, unknown>>> {
  const version = request.headers['x-api-version'] ?? '1'
  if (version !== '1') throw new HttpError(400, 'X-Api-Version must be 1.')
  return parseJson(await readBody(request, bodyBytesMax), json)
}
