import type { Tx } from '../store/tx.ts'
import { expire } from './expire.ts'
import type { Moment } from './replay.ts'

/** Rows that one sweep takes of each kind, so that no call waits long behind it. */
const rowsMax = 500

/** Ends what is overdue, and forgets answers and log rows that are old enough. */
export function sweep(tx: Tx, { nowMs, steadyUs, windowMs }: Moment, logMsMax: number): void {
  const deadlineMs = Math.floor(steadyUs / 1000)
  for (const attempt of tx.attempts.overdue({ deadlineMs, limit: rowsMax }))
    expire(tx, attempt, nowMs)
  tx.attempts.forget({ windowStartMs: nowMs - windowMs, limit: rowsMax })
  tx.sweepCalls({ beforeMs: nowMs - logMsMax, limit: rowsMax })
}

/** Ends everything that a process which is no more left running. @returns how many there were. */
export function expireAll(tx: Tx, nowMs: number): number {
  const left = tx.attempts.overdue({ deadlineMs: Number.MAX_SAFE_INTEGER, limit: -1 })
  for (const attempt of left) expire(tx, attempt, nowMs)
  return left.length
}
