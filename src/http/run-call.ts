import type { Caller } from '../actions/action.ts'
import type { BillableCall, IncomingCall, UnparsedCall } from '../gate/incoming-call.ts'
import type { CallOutput, Settlement } from '../gate/settle.ts'
import { runAsAccount } from '../lib/account-context.ts'
import { ActionError, HttpError } from '../lib/errors.ts'

/** A call that was read: what the gate checks, what runs, and how its response is built. */
export type RunnableCall<Outcome, S extends Settlement> = BillableCall & {
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal
  /** Runs for the caller that was admitted. @throws ActionError if the call cannot be completed. */
  readonly run: (caller: Caller) => Promise<CallOutput<Outcome>>
  readonly toSettlement: (outcome: Outcome | ActionError) => S
}

/** A call to execute, or the error that its request was read with. */
export type CallToExecute<Outcome, S extends Settlement> = Omit<IncomingCall, 'parsed'> & {
  readonly parsed: RunnableCall<Outcome, S> | UnparsedCall
}

/** How a call ended. The headers contain the rate limit; they are empty before admission. */
export type CallEnd<S extends Settlement> = {
  readonly headers: Readonly<Record<string, string>>
} & (
  | { readonly kind: 'settled'; readonly settlement: S }
  /** `response` is the stored JSON. */
  | { readonly kind: 'replay'; readonly response: string }
  | { readonly kind: 'rejected'; readonly error: ActionError }
  /** An HttpError, or a bug. */
  | { readonly kind: 'failed'; readonly error: unknown }
)

/**
 * Runs a call that was admitted. An ActionError is an outcome: the call is settled with it, unless it
 * is a temporary refusal.
 *
 * @throws HttpError 499 if the client disconnected before the work began, and any other error.
 */
export async function runCall<Outcome, S extends Settlement>(
  { run, signal }: RunnableCall<Outcome, S>,
  caller: Caller,
): Promise<CallOutput<Outcome | ActionError>> {
  try {
    return await runAsAccount(caller.accountId, () => run(caller))
  } catch (error) {
    if (error instanceof ActionError) {
      if (error.retryAfterS !== undefined) throw error
      return { outcome: error }
    }
    if (signal.aborted) throw new HttpError(499, 'The client disconnected.', { cause: error })
    throw error
  }
}
