import {
  hourlyCallKeyText,
  hourlyCallKeyOf,
  emptyHourlyCallCount,
  withCall,
} from '../../gate/hourly-counts.ts'
import type { HourlyCallCount, CountedCall } from '../../gate/hourly-counts.ts'
import type { HourlyCountStatements } from '../hourly-counts.ts'

/**
 * The calls of one group commit that are not counted yet. All calls with the same key then cost one
 * statement together. They are counted before the commit, in the same transaction as their rows.
 */
export type PendingCounts = {
  readonly add: (row: CountedCall) => void
  readonly position: () => number
  /** Removes the calls after a position, because their job was rolled back. */
  readonly rewind: (position: number) => void
  /** Counts the pending calls. */
  readonly flush: () => void
  /** Discards everything after a failed transaction, which counted nothing. */
  readonly reset: () => void
}

/** The maximum number of cached counts; several hours of many keys. */
const countsMax = 2000

/**
 * Caches the latest counts, so that they need not be read again: only this process writes them. The
 * cache equals the committed state. After a failure it is emptied.
 */
export function createPendingCounts({
  findCallCount,
  putCallCount,
}: HourlyCountStatements): PendingCounts {
  const pending: CountedCall[] = []
  const counts = new Map<string, HourlyCallCount>()
  return {
    add: (row) => void pending.push(row),
    position: () => pending.length,
    rewind: (position) => {
      pending.length = position
    },
    flush: () => {
      if (counts.size > countsMax) counts.clear()
      const changedKeys = new Set<string>()
      for (const row of pending.splice(0)) {
        const key = hourlyCallKeyText(row)
        const previous =
          counts.get(key) ?? findCallCount(hourlyCallKeyOf(row)) ?? emptyHourlyCallCount(row)
        counts.set(key, withCall(previous, row))
        changedKeys.add(key)
      }
      for (const key of changedKeys) {
        const count = counts.get(key)
        if (count) putCallCount(count)
      }
    },
    reset: () => {
      pending.length = 0
      counts.clear()
    },
  }
}
