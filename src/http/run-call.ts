import type { Caller } from '../actions/action.ts'
import type { Gate } from '../gate/gate.ts'
import type {
  AuthenticatedCall,
  CallContent,
  ReceivedCall,
  UnreadableContent,
} from '../gate/call-states.ts'
import { isRefusal, type CallOutput, type Settlement } from '../gate/settle.ts'
import { runAsAccount } from '../lib/account-context.ts'
import { ActionError, HttpError } from '../lib/errors.ts'
import { retryAfterHeader } from './error-response.ts'

/** The content of a call, what runs for it, and how its response is built. */
export type RunnableCall<Outcome, S extends Settlement> = CallContent & {
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal
  /** Runs for the caller that was admitted. @throws ActionError if the call cannot be completed. */
  readonly run: (caller: Caller) => Promise<CallOutput<Outcome>>
  readonly toSettlement: (outcome: Outcome | ActionError) => S
}

/** How a call ended. The headers contain the rate limit; they are empty before admission. */
export type CallEnd<S extends Settlement> = {
  readonly headers: CallHeaders
} & (
  | { readonly kind: 'settled'; readonly settlement: S }
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
 * Runs a call that was admitted. An ActionError is an outcome: the call is settled with it, unless it
 * is a refusal.
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
      if (isRefusal(error)) throw error
      return { outcome: error }
    }
    if (signal.aborted) throw new HttpError(499, 'The client disconnected.', { cause: error })
    throw error
  }
}

/** Ends a call that could not be read: the gate logs it and determines the error to report. */
export async function rejectCall(
  caller: AuthenticatedCall['caller'],
  received: ReceivedCall,
  content: UnreadableContent,
  gate: Gate,
): Promise<FailedEnd & { readonly headers: CallHeaders }> {
  try {
    const { headers, error } = await gate.reject(caller, received, content)
    return endOfError(headers, error)
  } catch (error) {
    return endOfError({}, error)
  }
}

/** Returns the end of a call that was rejected or has failed. */
export function endOfError(
  headers: CallHeaders,
  error: unknown,
): FailedEnd & { readonly headers: CallHeaders } {
  if (!(error instanceof ActionError)) return { kind: 'failed', headers, error }
  return { kind: 'rejected', headers: { ...headers, ...retryAfterHeader(error) }, error }
}
