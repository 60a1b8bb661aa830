import { ActionError, errorTable, HttpError } from '../lib/errors.ts'
import type { NewCallRow } from '../store/schema.ts'
import type { Tx } from '../store/tx.ts'
import { callDetailOf, problemsOfError, type LoggedProblem } from './call-detail.ts'
import type { AuthenticatedCall } from './call-states.ts'

export type CallOutcome = {
  readonly code: string
  readonly isReplay?: boolean
  /** Why the call, or a part of it, failed. */
  readonly problems?: readonly LoggedProblem[]
}

const actionLengthMax = 128

/** Adds the row of a call to the request log. */
export async function logCall(
  tx: Tx,
  call: AuthenticatedCall,
  outcome: CallOutcome,
): Promise<void> {
  await tx.logCall(callRowOf(call, outcome))
}

type UnchargedRow = NewCallRow & { readonly detail: string | null }

/**
 * Returns the log row of a call that ends now and is not charged. Fields are copied one by one, so that parameters
 * cannot get into the log, except for the options that `callDetailOf` selects.
 */
export function callRowOf(call: AuthenticatedCall, outcome: CallOutcome): UnchargedRow {
  const { caller, requestId, action, startMs } = call
  const latencyMs = performance.now() - startMs
  return {
    atMs: call.atMs,
    keyId: caller.keyId,
    projectId: caller.projectId,
    requestId,
    action: toLoggableText(action),
    code: outcome.code,
    latencyMs: Math.round(latencyMs * 1000) / 1000,
    costMicros: 0n,
    meteredMicros: 0n,
    isReplay: outcome.isReplay ? 1 : 0,
    transferId: null,
    detail: callDetailOf(call, outcome.problems ?? []),
  }
}

/** Returns the outcome of a call that failed with this error. */
export function outcomeOfError(error: unknown): CallOutcome {
  const code = errorCodeOf(error)
  return { code, problems: problemsOfError(error, code) }
}

/**
 * Returns the log's code of a failure: the code of the error table if it has one for the error or
 * its status, otherwise `HTTP_<status>`.
 */
export function errorCodeOf(error: unknown): string {
  if (error instanceof ActionError) return error.code
  const status = error instanceof HttpError ? error.status : 500
  if (status === 400) return 'INVALID_REQUEST'
  const found = Object.entries(errorTable).find(([, row]) => row.status === status)
  return found?.[0] ?? `HTTP_${status}`
}

/** Truncates text from the caller and removes line breaks and control characters. */
function toLoggableText(text: string): string {
  return text.slice(0, actionLengthMax).replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, '')
}
