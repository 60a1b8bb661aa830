import { recordLatency, createLatencyHistogram } from '../../lib/observability/latency-histogram.ts'
import type { LatencyHistogram } from '../../lib/observability/latency-histogram.ts'
import type { CallHourRow, ScoreHourRow } from '../console-schema.ts'
import type { CallRow } from '../schema.ts'

export const hourMs = 3_600_000

/** Scores are counted in bins of 0.02: bin 0 is 0..0.02, bin 49 is 0.98..1. */
export const scoreBinCount = 50

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
export type HourlyCallCount = Omit<CallHourRow, 'latencies'> & {
  readonly latencies: LatencyHistogram
}

export type HourlyCallKey = Pick<
  HourlyCallCount,
  'hourMs' | 'projectId' | 'keyId' | 'action' | 'code'
>

/** Calls that are alike, counted. */
export function countCallsByHour(rows: Iterable<CountedCall>): Iterable<HourlyCallCount> {
  const cells = new Map<string, HourlyCallCount>()
  for (const row of rows) {
    const key = hourlyCallKeyText(row)
    cells.set(key, withCall(cells.get(key) ?? emptyHourlyCallCount(row), row))
  }
  return cells.values()
}

/** One text for each cell. A key belongs to one project. */
export function hourlyCallKeyText({ atMs, keyId, code, action }: CountedCall): string {
  return `${hourStartMs(atMs)} ${keyId} ${code} ${action}`
}

export function hourlyCallKeyOf({
  atMs,
  projectId,
  keyId,
  action,
  code,
}: CountedCall): HourlyCallKey {
  return { hourMs: hourStartMs(atMs), projectId, keyId, action, code }
}

export function emptyHourlyCallCount(row: CountedCall): HourlyCallCount {
  return {
    ...hourlyCallKeyOf(row),
    calls: 0,
    billed: 0,
    costMicros: 0n,
    latencies: createLatencyHistogram(),
  }
}

/** The cell with one call more; its histogram is counted on in place. */
export function withCall(cell: HourlyCallCount, row: CountedCall): HourlyCallCount {
  recordLatency(cell.latencies, row.latencyMs)
  return {
    ...cell,
    calls: cell.calls + 1,
    billed: cell.billed + (row.transferId === null ? 0 : 1),
    costMicros: cell.costMicros + row.costMicros,
  }
}

export function hourStartMs(atMs: number): number {
  return Math.floor(atMs / hourMs) * hourMs
}

export function scoreBinOf(value: number): number {
  return Math.min(scoreBinCount - 1, Math.max(0, Math.floor(value * scoreBinCount)))
}
