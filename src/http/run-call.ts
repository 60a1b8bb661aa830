import type { Caller } from '../actions/action.ts'
import type { Gate } from '../gate/gate.ts'
import type {
  AdmittedCall,
  AuthenticatedCall,
  CallContent,
  ReceivedCall,
  UnreadableContent,
} from '../gate/call-states.ts'
import { isRefusal, type CallOutput, type Settlement } from '../gate/settle.ts'
import { runAsAccount } from '../lib/account-context.ts'
import { ActionError, GalleryChangedError, HttpError } from '../lib/errors.ts'
import { retryAfterHeader } from './error-response.ts'

/** A call with its key, before the gate decides about it. */
export type IncomingCall = Pick<AuthenticatedCall, 'caller'> & {
  readonly received: ReceivedCall
  readonly gate: Gate
}

/** How a call ended. The headers contain the rate limit; they are empty before admission. */
export type CallEnd<Result> = {
  readonly headers: CallHeaders
} & (
  | { readonly kind: 'completed'; readonly result: Result }
  /** `response` is the stored JSON. */
  | { readonly kind: 'replay'; readonly response: string }
  | FailedEnd
)

type FailedEnd =
  | { readonly kind: 'rejected'; readonly error: ActionError }
  /** An HttpError, or a bug. */
  | { readonly kind: 'failed'; readonly error: unknown }

type CallHeaders = Readonly<Record<string, string>>

/**
 * Passes a call through the gate. A call that could not be read is rejected: the gate logs it and
 * determines the error to report.
 *
 * @param complete runs an admitted call and settles or finishes it. If it throws, the call is released.
 */
export async function passGate<Content extends CallContent, Result>(
  { caller, received, gate }: IncomingCall,
  content: Content | UnreadableContent,
  complete: (admitted: AdmittedCall, content: Content) => Promise<Result>,
): Promise<CallEnd<Result>> {
  let headers: CallHeaders = {}
  try {
    if ('error' in content) {
      const rejected = await gate.reject(caller, received, content)
      return endOfError(rejected.headers, rejected.error)
    }
    // Permissions, rate limit, replay, budget.
    const decision = await gate.admit(caller, received, content)
    headers = decision.headers
    if (decision.kind === 'replay') return decision
    if (decision.kind === 'rejected') return endOfError(headers, decision.error)
    const { admitted } = decision
    const result = await complete(admitted, content).catch(async (error: unknown) => {
      throw await gate.release(admitted, error)
    })
    return { kind: 'completed', headers, result }
  } catch (error) {
    return endOfError(headers, error)
  }
}

/** Returns the end of a call that was rejected or has failed. */
function endOfError(
  headers: CallHeaders,
  error: unknown,
): FailedEnd & { readonly headers: CallHeaders } {
  if (!(error instanceof ActionError)) return { kind: 'failed', headers, error }
  return { kind: 'rejected', headers: { ...headers, ...retryAfterHeader(error) }, error }
}

/** Returns the result of a call with a new request id, which is no retry. @throws its error. */
export function resultOf<Result>(end: CallEnd<Result>): Result {
  if (end.kind === 'completed') return end.result
  throw end.kind === 'replay' ? new Error('a new request id was reused') : end.error
}

/** The content of a call, what runs for it, and how its response is built. */
export type RunnableCall<Outcome, S extends Settlement> = CallContent & {
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal
  /** Runs for the caller that was admitted. @throws ActionError if the call cannot be completed. */
  readonly run: (caller: Caller) => Promise<CallOutput<Outcome>>
  readonly toSettlement: (outcome: Outcome | ActionError) => S
}

/** The most runs of a call. Few changes of a gallery concern the subjects that a call has found. */
const runsMax = 10

/**
 * Admits a call, runs it and settles it: its effect, its charge and its response in one transaction. If
 * subjects that it has found end in between, or many subjects change, it runs again.
 */
export function runCall<Outcome, S extends Settlement>(
  incoming: IncomingCall,
  content: RunnableCall<Outcome, S> | UnreadableContent,
): Promise<CallEnd<S>> {
  return passGate(incoming, content, async (admitted, call) => {
    for (let runs = 1; ; runs++) {
      try {
        const output = await outputOf(call, admitted.call.caller)
        return await incoming.gate.settle(admitted, { output, toSettlement: call.toSettlement })
      } catch (error) {
        if (!(error instanceof GalleryChangedError) || runs === runsMax) throw error
      }
    }
  })
}

/**
 * Runs a call that was admitted. An ActionError is an outcome: the call is settled with it, unless it
 * is a refusal.
 *
 * @throws HttpError 499 if the client disconnected before the work began, and any other error.
 */
async function outputOf<Outcome, S extends Settlement>(
  { run, signal }: RunnableCall<Outcome, S>,
  caller: Caller,
): Promise<CallOutput<Outcome | ActionError>> {
  try {
    return await runAsAccount(caller.accountId, () => run(caller))
  } catch (error) {
    if (error instanceof ActionError) {
      if (isRefusal(error)) throw error
      return { outcome: error }
    }
    if (signal.aborted) throw new HttpError(499, 'The client disconnected.', { cause: error })
    throw error
  }
}
