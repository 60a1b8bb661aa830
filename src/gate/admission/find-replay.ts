import { ActionError } from '../../lib/errors.ts'
import type { AttemptRow } from '../../store/schema.ts'

export type Now = {
  /** Time of day. */
  readonly nowMs: number
  /** By the steady clock. */
  readonly steadyUs: number
  /** How long answers are kept for replays. */
  readonly windowMs: number
}

/** What came of the same request before. */
export type EarlierCall =
  | { readonly kind: 'none' }
  | { readonly kind: 'done'; readonly code: string; readonly response: Uint8Array }
  /** The first is at work still: a twin waits for it. */
  | { readonly kind: 'running' }
  /** It was answered long ago, or given up: its row makes way. */
  | { readonly kind: 'stale' | 'overdue'; readonly attempt: AttemptRow }

/**
 * Was this asked before?
 *
 * @throws ActionError REQUEST_ID_CONFLICT when the id was used for other content.
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
    throw new ActionError('REQUEST_ID_CONFLICT', 'This requestId was used for another call.')
  return answer && code !== null ? { kind: 'done', code, response: answer } : { kind: 'running' }
}
