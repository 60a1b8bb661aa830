import {
  hourlyCallKeyText,
  hourlyCallKeyOf,
  emptyHourlyCallCount,
  withCall,
} from '../gate/hourly-counts.ts'
import type { HourlyCallCount, CountedCall } from '../gate/hourly-counts.ts'
import type { HourlyCountStatements } from './hourly-counts.ts'

/**
 * Calls of one group commit that are still to be counted: all that are alike then cost one statement
 * together. They are counted before the commit, in the same transaction as their rows.
 */
export type PendingCounts = {
  readonly add: (row: CountedCall) => void
  readonly position: () => number
  /** Forgets what came after a mark: the job that it came of was taken back. */
  readonly rewind: (mark: number) => void
  /** Counts what is pending. */
  readonly flush: () => void
  /** To be called when a transaction failed: nothing of it was counted. */
  readonly reset: () => void
}

/** Cells that are kept at hand; some hours of many keys. */
const cellsMax = 2000

/**
 * The cells that were counted last are kept at hand, so that they need not be read again: nobody but
 * this process counts. They are what is committed; after a failure they are read anew.
 */
export function createPendingCounts({
  findCallCount: findCell,
  putCallCount: putCell,
}: HourlyCountStatements): PendingCounts {
  const pending: CountedCall[] = []
  const cells = new Map<string, HourlyCallCount>()
  return {
    add: (row) => void pending.push(row),
    position: () => pending.length,
    rewind: (mark) => {
      pending.length = mark
    },
    flush: () => {
      if (cells.size > cellsMax) cells.clear()
      const touched = new Set<string>()
      for (const row of pending.splice(0)) {
        const key = hourlyCallKeyText(row)
        const before = cells.get(key) ?? findCell(hourlyCallKeyOf(row)) ?? emptyHourlyCallCount(row)
        cells.set(key, withCall(before, row))
        touched.add(key)
      }
      for (const key of touched) {
        const cell = cells.get(key)
        if (cell) putCell(cell)
      }
    },
    reset: () => {
      pending.length = 0
      cells.clear()
    },
  }
}
