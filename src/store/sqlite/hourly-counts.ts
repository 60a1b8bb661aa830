import type { DatabaseSync } from 'node:sqlite'
import type { Selectable } from 'kysely'
import {
  addHistogram,
  createLatencyHistogram,
  packLatencies,
  unpackLatencies,
} from '../../lib/observability/latency-histogram.ts'
import type { CallHourRow } from '../console-schema.ts'
import {
  type HourlyCallCount,
  type HourlyCallKey,
  hourlyCallKeyText,
  hourlyCallKeyOf,
  emptyHourlyCallCount,
  withCall,
  type CountedCall,
} from '../gate/hourly-counts.ts'
import { prepare } from './connection.ts'

/** The statements that update the hourly counts in the transaction of each call. */
type HourlyCountStatements = ReturnType<typeof createHourlyCountStatements>

export function createHourlyCountStatements(connection: DatabaseSync) {
  const selectCount = prepare<Selectable<CallHourRow>>(
    connection,
    `select * from callHours where hourMs = :hourMs and projectId = :projectId and keyId = :keyId
       and action = :action and code = :code and outcome = :outcome`,
  )
  const replaceCount = prepare(
    connection,
    // Unlike `insert or replace`, an update does not change the index by key.
    `insert into callHours (hourMs, projectId, keyId, action, code, outcome, calls, billed,
       costMicros, meteredMicros, nearMisses, similaritySum, rated, qualitySum, latencies)
     values (:hourMs, :projectId, :keyId, :action, :code, :outcome, :calls, :billed, :costMicros,
       :meteredMicros, :nearMisses, :similaritySum, :rated, :qualitySum, :latencies)
     on conflict do update set calls = excluded.calls, billed = excluded.billed,
       costMicros = excluded.costMicros, meteredMicros = excluded.meteredMicros,
       nearMisses = excluded.nearMisses, similaritySum = excluded.similaritySum,
       rated = excluded.rated, qualitySum = excluded.qualitySum,
       latencies = excluded.latencies`,
  )
  return {
    /** Finds the count of a key; undefined before its first call. */
    findCallCount: (key: HourlyCallKey): HourlyCallCount | undefined => {
      const row = selectCount.first(key)
      return row && { ...row, latencies: unpackLatencies(row.latencies) }
    },
    /** Inserts or replaces a count. */
    putCallCount: ({ latencies, ...count }: HourlyCallCount): void =>
      void replaceCount.run({ ...count, latencies: packLatencies(latencies) }),
  }
}

/**
 * Registers the SQL function `sumLatencies`, which adds histograms. A chart then reads one row for
 * each of its points, and not one for each hour, key, action and code.
 */
export function registerSumLatencies(connection: DatabaseSync): void {
  connection.aggregate('sumLatencies', {
    start: () => packLatencies(createLatencyHistogram()),
    step: (sum, added) => mergeLatencies(sum, added),
    deterministic: true,
  })
}

function mergeLatencies(stored: unknown, added: unknown): Uint8Array {
  if (!(stored instanceof Uint8Array) || !(added instanceof Uint8Array))
    throw new TypeError('sumLatencies expects histograms')
  const histogram = unpackLatencies(stored)
  addHistogram(histogram, unpackLatencies(added))
  return packLatencies(histogram)
}

/**
 * The calls of one group commit that are not counted yet. All calls with the same key then cost one
 * statement together. They are counted before the commit, in the same transaction as their rows.
 */
export type PendingCounts = ReturnType<typeof createPendingCounts>

/** The maximum number of cached counts; several hours of many keys. */
const countsMax = 2000

/**
 * Caches the latest counts, so that they need not be read again: only this process writes them. The
 * cache equals the committed state. After a failure it is emptied.
 */
export function createPendingCounts({ findCallCount, putCallCount }: HourlyCountStatements) {
  const pending: CountedCall[] = []
  const counts = new Map<string, HourlyCallCount>()
  return {
    add: (row: CountedCall): void => void pending.push(row),
    position: (): number => pending.length,
    /** Removes the calls after a position, because their job was rolled back. */
    rewind: (position: number): void => {
      pending.length = position
    },
    /** Counts the pending calls. */
    flush: (): void => {
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
    /** Discards everything after a failed transaction, which counted nothing. */
    reset: (): void => {
      pending.length = 0
      counts.clear()
    },
  }
}
