import type { DatabaseSync } from 'node:sqlite'
import {
  addHistogram,
  createLatencyHistogram,
  packLatencies,
  unpackLatencies,
} from '../../lib/observability/latency-histogram.ts'
import type { CallHourRow } from '../console-schema.ts'
import {
  scoreBinOf,
  hourlyCallKeyOf,
  emptyHourlyCallCount,
  hourStartMs,
  withCall,
} from '../gate/hourly-counts.ts'
import type { HourlyCallCount, HourlyCallKey, CountedCall, Score } from '../gate/hourly-counts.ts'
import type { CallRow } from '../schema.ts'
import { prepare } from './connection.ts'

/** The counts that are written with each call, in its transaction. */
export type HourlyCountStatements = {
  readonly countCall: (row: CountedCall) => void
  /** What an hour holds of calls that are alike; undefined before the first. */
  readonly findCallCount: (of: HourlyCallKey) => HourlyCallCount | undefined
  /** Puts a cell in the place of what was there. */
  readonly putCallCount: (cell: HourlyCallCount) => void
  readonly countScore: (score: Score, of: Pick<CallRow, 'atMs' | 'projectId'>) => void
}

export function createHourlyCountStatements(on: DatabaseSync): HourlyCountStatements {
  const find = prepare<CallHourRow>(
    on,
    `select * from callHours where hourMs = :hourMs and projectId = :projectId and keyId = :keyId
       and action = :action and code = :code`,
  )
  const put = prepare(
    on,
    `insert or replace into callHours (hourMs, projectId, keyId, action, code, calls, billed,
       costMicros, latencies)
     values (:hourMs, :projectId, :keyId, :action, :code, :calls, :billed, :costMicros, :latencies)`,
  )
  const findCell: HourlyCountStatements['findCallCount'] = (of) => {
    const row = find.first(of)
    return row && { ...row, latencies: unpackLatencies(row.latencies) }
  }
  const putCell: HourlyCountStatements['putCallCount'] = ({ latencies, ...cell }) =>
    void put.run({ ...cell, latencies: packLatencies(latencies) })
  const score = prepare(
    on,
    `insert into scoreHours (projectId, kind, hourMs, bin, count, matched)
     values (:projectId, :kind, :hourMs, :bin, 1, :matched)
     on conflict do update set count = count + 1, matched = matched + excluded.matched`,
  )
  return {
    findCallCount: findCell,
    putCallCount: putCell,
    countCall: (row) =>
      putCell(withCall(findCell(hourlyCallKeyOf(row)) ?? emptyHourlyCallCount(row), row)),
    countScore: ({ kind, value, isMatched }, { atMs, projectId }) => {
      const matched = isMatched ? 1 : 0
      void score.run({
        projectId,
        kind,
        hourMs: hourStartMs(atMs),
        bin: scoreBinOf(value),
        matched,
      })
    },
  }
}

/**
 * Teaches a connection to add histograms, so that a chart brings one row for each of its points and
 * not one for each hour, key, action and code.
 */
export function registerSumLatencies(on: DatabaseSync): void {
  on.aggregate('sumLatencies', {
    start: emptyBytes,
    step: (sum, added) => mergeLatencies(sum, added),
    deterministic: true,
  })
}

function emptyBytes(): Uint8Array {
  return packLatencies(createLatencyHistogram())
}

function mergeLatencies(stored: unknown, added: unknown): Uint8Array {
  if (!(stored instanceof Uint8Array) || !(added instanceof Uint8Array))
    throw new TypeError('latencies are no histogram')
  const histogram = unpackLatencies(stored)
  addHistogram(histogram, unpackLatencies(added))
  return packLatencies(histogram)
}
