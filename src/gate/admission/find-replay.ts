import { ActionError } from '../../lib/errors.ts'
import type { AttemptRow } from '../../store/schema.ts'

export type Now = {
  /** By the wall clock. */
  readonly nowMs: number
  /** By the steady clock. */
  readonly steadyUs: number
  /** How long responses are kept for replays. */
  readonly windowMs: number
}

/** The state of an earlier call with the same requestId. */
export type EarlierCall =
  | { readonly kind: 'none' }
  | { readonly kind: 'done'; readonly code: string; readonly response: Uint8Array }
  /** The first call still runs; a retry waits for it. */
  | { readonly kind: 'running' }
  /** The response is too old, or the call ran too long; a new call replaces the row. */
  | { readonly kind: 'stale' | 'overdue'; readonly attempt: AttemptRow }

/**
 * Finds out whether the request is a retry, from the stored row of its requestId.
 *
 * @throws ActionError REQUEST_ID_CONFLICT when the requestId was used for other content.
 */
export function findReplay(
  attempt: AttemptRow | undefined,
  fingerprint: Buffer,
  { nowMs, steadyUs, windowMs }: Now,
): EarlierCall {
  if (!attempt) return { kind: 'none' }
  const { state, code, answer } = attempt
  if (state === 'running' && attempt.deadlineMs * 1000 < steadyUs)
    return { kind: 'overdue', attempt }
  if (state === 'done' && attempt.windowStartMs + windowMs <= nowMs)
    return { kind: 'stale', attempt }
  if (!fingerprint.equals(attempt.fingerprint))
    throw new ActionError(
      'REQUEST_ID_CONFLICT',
      'requestId: it was used for a call with other content',
    )
  return answer && code !== null ? { kind: 'done', code, response: answer } : { kind: 'running' }
}
