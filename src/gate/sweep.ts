import type { Tx } from '../store/tx.ts'
import { expireAttempt } from './expire.ts'
import type { Now } from './admission/find-replay.ts'

/** Rows that one sweep takes of each kind, so that no call waits long behind it. */
const rowsMax = 500

/** Ends what is overdue, and forgets answers and log rows that are old enough. */
export async function sweep(
  tx: Tx,
  { nowMs, steadyUs, windowMs }: Now,
  logMsMax: number,
): Promise<void> {
  const deadlineMs = Math.floor(steadyUs / 1000)
  for (const attempt of await tx.attempts.findOverdue({ deadlineMs, limit: rowsMax }))
    await expireAttempt(tx, attempt, nowMs)
  await tx.attempts.deleteExpired({ windowStartMs: nowMs - windowMs, limit: rowsMax })
  await tx.sweepCalls({ beforeMs: nowMs - logMsMax, limit: rowsMax })
}

/**
 * Ends what a process which is no more left running: everything, but where others were at work before
 * this one only what is overdue. @returns how many there were.
 */
export async function expireLeftover(
  tx: Tx,
  { nowMs, steadyUs }: Pick<Now, 'nowMs' | 'steadyUs'>,
  isFirst: boolean,
): Promise<number> {
  const deadlineMs = isFirst ? Number.MAX_SAFE_INTEGER : Math.floor(steadyUs / 1000)
  const left = await tx.attempts.findOverdue({ deadlineMs, limit: -1 })
  for (const attempt of left) await expireAttempt(tx, attempt, nowMs)
  return left.length
}
