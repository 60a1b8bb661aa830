import { addLatency, emptyLatencies } from '../lib/latency-histogram.ts'
import type { LatencyHistogram } from '../lib/latency-histogram.ts'
import type { CallHourRow, ScoreHourRow } from './console-schema.ts'
import type { CallRow } from './schema.ts'

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

export type CountedCall = Omit<CallRow, 'callId'>

/** Calls that are alike in their hour, project, key, action and code. */
export type Cell = Omit<CallHourRow, 'latencies'> & { readonly latencies: LatencyHistogram }

export type CellName = Pick<Cell, 'hourMs' | 'projectId' | 'keyId' | 'action' | 'code'>

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

export function hourOf(atMs: number): number {
  return Math.floor(atMs / hourMs) * hourMs
}

export function binOf(value: number): number {
  return Math.min(scoreBins - 1, Math.max(0, Math.floor(value * scoreBins)))
}
