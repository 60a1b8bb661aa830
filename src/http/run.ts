import type { Caller, Services } from '../actions/action.ts'
import type { Result } from '../gate/settle.ts'
import { ActionError, HttpError } from '../lib/errors.ts'
import type { Call, Echo } from './call.ts'
import { answered, failed, type Envelope } from './envelope.ts'
import type { Request } from './exchange.ts'

/** A call that the gate let pass. */
export type Work = {
  readonly call: Call
  readonly echo: Echo
  readonly caller: Caller
  readonly request: Request
}

/**
 * Runs the action of a call. An expected failure is an answer like any other.
 *
 * @throws whatever else goes wrong; HttpError 499 when the client left before the work began.
 */
export async function run(
  { call, echo, caller, request }: Work,
  services: Services,
): Promise<Result<Envelope>> {
  const { action, params } = call
  const { signal } = request
  const onFailure = (error: ActionError): Envelope => failed(echo, error)
  try {
    const { outcomes, effect } = await action.run({ params, caller, services, signal })
    return { answer: answered(echo, outcomes), effect, failed: onFailure }
  } catch (error) {
    if (error instanceof ActionError) return { answer: onFailure(error), failed: onFailure }
    if (signal.aborted) throw new HttpError(499, 'The client is gone.', { cause: error })
    throw error
  }
}
