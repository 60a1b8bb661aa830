import type { Selectable } from 'kysely'
import { hourMs } from '../../lib/clock.ts'
import { recordLatency, createLatencyHistogram } from '../../lib/observability/latency-histogram.ts'
import type { LatencyHistogram } from '../../lib/observability/latency-histogram.ts'
import type { CallHourRow, ScoreHourRow } from '../console-schema.ts'
import type { CallRow, NewCallRow } from '../schema.ts'

/** Scores are counted in bins of 0.02: bin 0 is 0..0.02, bin 49 is 0.98..1. */
export const scoreBinCount = 50

/** A score of an action, for the charts. It contains no reference to a subject. */
export type Score = {
  readonly kind: ScoreHourRow['kind']
  /** 0..1. */
  readonly value: number
  /** Whether the score reached its threshold: the same person, or a live one. */
  readonly isMatched: boolean
}

export type CountedCall = NewCallRow

/** The counts of calls with the same hour, project, key, action, code and outcome. */
export type HourlyCallCount = Omit<Selectable<CallHourRow>, 'latencies'> & {
  readonly latencies: LatencyHistogram
}

export type HourlyCallKey = Pick<
  HourlyCallCount,
  'hourMs' | 'projectId' | 'keyId' | 'action' | 'code' | 'outcome'
>

/** Returns the count's key as text. The project is left out, because a key belongs to one project. */
export function hourlyCallKeyText({ atMs, keyId, code, outcome, action }: CountedCall): string {
  return `${hourStartMs(atMs)} ${keyId} ${code} ${outcome ?? ''} ${action}`
}

export function hourlyCallKeyOf({
  atMs,
  projectId,
  keyId,
  action,
  code,
  outcome,
}: CountedCall): HourlyCallKey {
  return { hourMs: hourStartMs(atMs), projectId, keyId, action, code, outcome: outcome ?? '' }
}

export function emptyHourlyCallCount(row: CountedCall): HourlyCallCount {
  return {
    ...hourlyCallKeyOf(row),
    calls: 0,
    billed: 0,
    costMicros: 0n,
    meteredMicros: 0n,
    nearMisses: 0,
    similaritySum: 0,
    rated: 0,
    qualitySum: 0,
    latencies: createLatencyHistogram(),
  }
}

/** Returns the count with one more call. The histogram is updated in place. */
export function withCall(count: HourlyCallCount, row: CountedCall): HourlyCallCount {
  recordLatency(count.latencies, row.latencyMs)
  const added = countsOfCall(row)
  return {
    hourMs: count.hourMs,
    projectId: count.projectId,
    keyId: count.keyId,
    action: count.action,
    code: count.code,
    outcome: count.outcome,
    calls: count.calls + 1,
    billed: count.billed + added.billed,
    costMicros: count.costMicros + row.costMicros,
    meteredMicros: count.meteredMicros + row.meteredMicros,
    nearMisses: count.nearMisses + added.nearMisses,
    similaritySum: count.similaritySum + added.similaritySum,
    rated: count.rated + added.rated,
    qualitySum: count.qualitySum + added.qualitySum,
    latencies: count.latencies,
  }
}

/** Returns what one call adds to the numbers of its count, apart from its amounts and its latency. */
export function countsOfCall({ transferId, nearMiss, similarity, quality }: CountedCall) {
  return {
    billed: transferId === null ? 0 : 1,
    nearMisses: nearMiss ?? 0,
    similaritySum: Math.round((similarity ?? 0) * 10_000),
    rated: typeof quality === 'number' ? 1 : 0,
    qualitySum: Math.round(quality ?? 0),
  }
}

export function hourStartMs(atMs: number): number {
  return Math.floor(atMs / hourMs) * hourMs
}

export function scoreBinOf(value: number): number {
  return Math.min(scoreBinCount - 1, Math.max(0, Math.floor(value * scoreBinCount)))
}

/** Returns the row of the counts that contains a score, with what the score adds to it. */
export function scoreRowOf(
  { kind, value, isMatched }: Score,
  { atMs, projectId }: Pick<CallRow, 'atMs' | 'projectId'>,
) {
  const matched = isMatched ? 1 : 0
  return { projectId, kind, hourMs: hourStartMs(atMs), bin: scoreBinOf(value), matched }
}
