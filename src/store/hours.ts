import type { DatabaseSync } from 'node:sqlite'
import {
  addLatencies,
  addLatency,
  emptyLatencies,
  packLatencies,
  unpackLatencies,
} from '../lib/latency-histogram.ts'
import type { LatencyHistogram } from '../lib/latency-histogram.ts'
import type { CallHourRow, ScoreHourRow } from './console-schema.ts'
import type { CallRow } from './schema.ts'
import { prepare } from './sqlite.ts'

export const hourMs = 3_600_000

/** Scores are counted in bins of 0.02: bin 0 is 0..0.02, bin 49 is 0.98..1. */
export const scoreBins = 50

/** A score that an action gave, for the charts: a number and a verdict, of nobody. */
export type Score = {
  readonly kind: ScoreHourRow['kind']
  /** 0..1. */
  readonly value: number
  /** Whether it was enough: the same person, a live one. */
  readonly isMatched: boolean
}

/** The counts that are written with each call, in its transaction. */
export type HourStatements = {
  readonly countCall: (row: CountedCall) => void
  /** What an hour holds of calls that are alike; undefined before the first. */
  readonly findCell: (of: CellName) => Cell | undefined
  /** Puts a cell in the place of what was there. */
  readonly putCell: (cell: Cell) => void
  readonly countScore: (score: Score, of: Pick<CallRow, 'atMs' | 'projectId'>) => void
}

export type CountedCall = Omit<CallRow, 'callId'>

/** Calls that are alike in their hour, project, key, action and code. */
export type Cell = Omit<CallHourRow, 'latencies'> & { readonly latencies: LatencyHistogram }

type CellName = Pick<Cell, 'hourMs' | 'projectId' | 'keyId' | 'action' | 'code'>

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

/** Calls that are alike, counted. */
export function cellsOf(rows: Iterable<CountedCall>): Iterable<Cell> {
  const cells = new Map<string, Cell>()
  for (const row of rows) {
    const key = cellKeyOf(row)
    cells.set(key, withCall(cells.get(key) ?? emptyCell(row), row))
  }
  return cells.values()
}

/** One text for each cell. A key belongs to one project. */
export function cellKeyOf({ atMs, keyId, code, action }: CountedCall): string {
  return `${hourOf(atMs)} ${keyId} ${code} ${action}`
}

export function cellNameOf({ atMs, projectId, keyId, action, code }: CountedCall): CellName {
  return { hourMs: hourOf(atMs), projectId, keyId, action, code }
}

export function emptyCell(row: CountedCall): Cell {
  return { ...cellNameOf(row), calls: 0, billed: 0, costMicros: 0n, latencies: emptyLatencies() }
}

/** The cell with one call more; its histogram is counted on in place. */
export function withCall(cell: Cell, row: CountedCall): Cell {
  addLatency(cell.latencies, row.latencyMs)
  return {
    ...cell,
    calls: cell.calls + 1,
    billed: cell.billed + (row.transferId === null ? 0 : 1),
    costMicros: cell.costMicros + row.costMicros,
  }
}

function mergeLatencies(stored: unknown, added: unknown): Uint8Array {
  if (!(stored instanceof Uint8Array) || !(added instanceof Uint8Array))
    throw new TypeError('latencies are no histogram')
  const histogram = unpackLatencies(stored)
  addLatencies(histogram, unpackLatencies(added))
  return packLatencies(histogram)
}

function hourOf(atMs: number): number {
  return Math.floor(atMs / hourMs) * hourMs
}

function binOf(value: number): number {
  return Math.min(scoreBins - 1, Math.max(0, Math.floor(value * scoreBins)))
}
