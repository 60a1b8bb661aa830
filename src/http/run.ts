import type { Action, Caller, Services } from '../actions/action.ts'
import type { Result } from '../gate/settle.ts'
import { ActionError, HttpError } from '../lib/errors.ts'
import { inAccount } from '../lib/account.ts'
import type { Call, Echo } from './call.ts'
import { answered, failed, type Envelope } from './envelope.ts'
import type { Request } from './exchange.ts'

/** A call that passed the gate. */
export type Work = {
  readonly call: Call
  readonly echo: Echo
  readonly caller: Caller
  readonly request: Request
}

/** Runs the action, and says how its call is to end. @throws whatever is no failure of an action. */
export async function run(work: Work, services: Services): Promise<Result<Envelope>> {
  const { call, echo, caller, request } = work
  const { action, params, debug } = call
  const { signal } = request
  const refused = (error: ActionError): Envelope => failed(echo, error)
  try {
    const asked = { params, caller, services, signal, debug }
    const done = await inAccount(caller.accountId, () => action.run(asked))
    return {
      conclude: async (tx) => conclusionOf(echo, action, await done.effect(tx)),
      failed: refused,
      afterwards: done.afterwards,
    }
  } catch (error) {
    if (signal.aborted && !(error instanceof ActionError))
      throw new HttpError(499, 'The client is gone.', { cause: error })
    if (!(error instanceof ActionError)) throw error
    const answer = refused(error)
    return { conclude: () => ({ answer }), failed: refused }
  }
}

type Outcomes = Parameters<typeof answered>[1]

/** The answer, and what is left of it when a subject that it names is deleted. */
function conclusionOf(echo: Echo, action: Action, outcomes: Outcomes) {
  const subjectIds = outcomes.flatMap((outcome) => outcome.subjectIds ?? [])
  const scrubbed = subjectIds.length > 0 ? answered(echo, outcomes.map(action.scrub)) : undefined
  const scores = outcomes.flatMap(action.scores)
  return { answer: answered(echo, outcomes), subjectIds, scrubbed, scores }
}
