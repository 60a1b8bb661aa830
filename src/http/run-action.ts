import type { Action, Caller, Services } from '../actions/action.ts'
import type { ExecutedAction } from '../gate/settle.ts'
import { ActionError, HttpError } from '../lib/errors.ts'
import { runAsAccount } from '../lib/account-context.ts'
import type { ParsedCall, EchoedFields } from './input/read-call.ts'
import { outcomeEnvelope, errorEnvelope, type Envelope } from './envelope.ts'
import type { HttpRequest } from './route.ts'

/** A call that passed the gate. */
export type AdmittedCall = {
  readonly call: ParsedCall
  readonly echo: EchoedFields
  readonly caller: Caller
  readonly request: HttpRequest
}

/** Runs the action, and says how its call is to end. @throws whatever is no failure of an action. */
export async function runAction(
  work: AdmittedCall,
  services: Services,
): Promise<ExecutedAction<Envelope>> {
  const { call, echo, caller, request } = work
  const { action, params, debug } = call
  const { signal } = request
  const refused = (error: ActionError): Envelope => errorEnvelope(echo, error)
  try {
    const asked = { params, caller, services, signal, debug }
    const done = await runAsAccount(caller.accountId, () => action.run(asked))
    return {
      applyEffects: async (tx) => toConclusion(echo, action, await done.effect(tx)),
      toErrorResponse: refused,
      afterCommit: done.afterCommit,
    }
  } catch (error) {
    if (signal.aborted && !(error instanceof ActionError))
      throw new HttpError(499, 'The client is gone.', { cause: error })
    if (!(error instanceof ActionError)) throw error
    const answer = refused(error)
    return { applyEffects: () => ({ response: answer }), toErrorResponse: refused }
  }
}

type ActionOutcomes = Parameters<typeof outcomeEnvelope>[1]

/** The answer, and what is left of it when a subject that it names is deleted. */
function toConclusion(echo: EchoedFields, action: Action, outcomes: ActionOutcomes) {
  const subjectIds = outcomes.flatMap((outcome) => outcome.subjectIds ?? [])
  const scrubbed =
    subjectIds.length > 0 ? outcomeEnvelope(echo, outcomes.map(action.scrub)) : undefined
  const scores = outcomes.flatMap(action.scores)
  return { response: outcomeEnvelope(echo, outcomes), subjectIds, scrubbed, scores }
}
