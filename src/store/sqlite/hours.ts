import type { DatabaseSync } from 'node:sqlite'
import {
  addLatencies,
  emptyLatencies,
  packLatencies,
  unpackLatencies,
} from '../../lib/latency-histogram.ts'
import type { CallHourRow } from '../console-schema.ts'
import { binOf, cellNameOf, emptyCell, hourOf, withCall } from '../hours.ts'
import type { Cell, CellName, CountedCall, Score } from '../hours.ts'
import type { CallRow } from '../schema.ts'
import { prepare } from './connection.ts'

/** The counts that are written with each call, in its transaction. */
export type HourStatements = {
  readonly countCall: (row: CountedCall) => void
  /** What an hour holds of calls that are alike; undefined before the first. */
  readonly findCell: (of: CellName) => Cell | undefined
  /** Puts a cell in the place of what was there. */
  readonly putCell: (cell: Cell) => void
  readonly countScore: (score: Score, of: Pick<CallRow, 'atMs' | 'projectId'>) => void
}

export function hourStatements(on: DatabaseSync): HourStatements {
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
  const findCell: HourStatements['findCell'] = (of) => {
    const row = find.first(of)
    return row && { ...row, latencies: unpackLatencies(row.latencies) }
  }
  const putCell: HourStatements['putCell'] = ({ latencies, ...cell }) =>
    void put.run({ ...cell, latencies: packLatencies(latencies) })
  const score = prepare(
    on,
    `insert into scoreHours (projectId, kind, hourMs, bin, count, matched)
     values (:projectId, :kind, :hourMs, :bin, 1, :matched)
     on conflict do update set count = count + 1, matched = matched + excluded.matched`,
  )
  return {
    findCell,
    putCell,
    countCall: (row) => putCell(withCall(findCell(cellNameOf(row)) ?? emptyCell(row), row)),
    countScore: ({ kind, value, isMatched }, { atMs, projectId }) => {
      const matched = isMatched ? 1 : 0
      void score.run({ projectId, kind, hourMs: hourOf(atMs), bin: binOf(value), matched })
    },
  }
}

/**
 * Teaches a connection to add histograms, so that a chart brings one row for each of its points and
 * not one for each hour, key, action and code.
 */
export function teachLatencies(on: DatabaseSync): void {
  on.aggregate('sumLatencies', {
    start: emptyBytes,
    step: (sum, added) => mergeLatencies(sum, added),
    deterministic: true,
  })
}

function emptyBytes(): Uint8Array {
  return packLatencies(emptyLatencies())
}

function mergeLatencies(stored: unknown, added: unknown): Uint8Array {
  if (!(stored instanceof Uint8Array) || !(added instanceof Uint8Array))
    throw new TypeError('latencies are no histogram')
  const histogram = unpackLatencies(stored)
  addLatencies(histogram, unpackLatencies(added))
  return packLatencies(histogram)
}
