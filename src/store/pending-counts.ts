import type { CountedCall, HourStatements } from './hours.ts'

/**
 * Calls of one group commit that are still to be counted: all that are alike then cost one statement
 * together. They are counted before the commit, in the same transaction as their rows.
 */
export type PendingCounts = {
  readonly add: (row: CountedCall) => void
  readonly mark: () => number
  /** Forgets what came after a mark: the job that it came of was taken back. */
  readonly rewind: (mark: number) => void
  /** Counts what is pending. */
  readonly flush: () => void
}

export function createPendingCounts({ countCalls }: HourStatements): PendingCounts {
  const pending: CountedCall[] = []
  return {
    add: (row) => void pending.push(row),
    mark: () => pending.length,
    rewind: (mark) => {
      pending.length = mark
    },
    flush: () => {
      if (pending.length > 0) countCalls(pending.splice(0))
    },
  }
}
