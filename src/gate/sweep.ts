import type { Tx } from '../store/tx.ts'
import { expire } from './expire.ts'
import type { Moment } from './replay.ts'

/** Rows that one sweep takes of each kind, so that no call waits long behind it. */
const rowsMax = 500

/** Ends what is overdue, and forgets answers and log rows that are old enough. */
export async function sweep(
  tx: Tx,
  { nowMs, steadyUs, windowMs }: Moment,
  logMsMax: number,
): Promise<void> {
  const deadlineMs = Math.floor(steadyUs / 1000)
  for (const attempt of await tx.attempts.overdue({ deadlineMs, limit: rowsMax }))
    await expire(tx, attempt, nowMs)
  await tx.attempts.forget({ windowStartMs: nowMs - windowMs, limit: rowsMax })
  await tx.sweepCalls({ beforeMs: nowMs - logMsMax, limit: rowsMax })
}

/**
 * Ends what a process which is no more left running: everything, but where others were at work before
 * this one only what is overdue. @returns how many there were.
 */
export async function expireLeft(
  tx: Tx,
  { nowMs, steadyUs }: Pick<Moment, 'nowMs' | 'steadyUs'>,
  isFirst: boolean,
): Promise<number> {
  const deadlineMs = isFirst ? Number.MAX_SAFE_INTEGER : Math.floor(steadyUs / 1000)
  const left = await tx.attempts.overdue({ deadlineMs, limit: -1 })
  for (const attempt of left) await expire(tx, attempt, nowMs)
  return left.length
}
