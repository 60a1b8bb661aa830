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
  readonly countCalls: (rows: readonly CountedCall[]) => void
  readonly countScore: (score: Score, of: Pick<CallRow, 'atMs' | 'projectId'>) => void
}

export type CountedCall = Omit<CallRow, 'callId'>

type Cell = Omit<CallHourRow, 'latencies'> & { readonly latencies: LatencyHistogram }

export function hourStatements(on: DatabaseSync): HourStatements {
  teachLatencies(on)
  const count = prepare(
    on,
    `insert into callHours (hourMs, projectId, keyId, action, code, calls, billed, costMicros,
       latencies)
     values (:hourMs, :projectId, :keyId, :action, :code, :calls, :billed, :costMicros, :latencies)
     on conflict do update set calls = calls + excluded.calls, billed = billed + excluded.billed,
       costMicros = costMicros + excluded.costMicros,
       latencies = mergeLatencies(latencies, excluded.latencies)`,
  )
  const score = prepare(
    on,
    `insert into scoreHours (projectId, kind, hourMs, bin, count, matched)
     values (:projectId, :kind, :hourMs, :bin, 1, :matched)
     on conflict do update set count = count + 1, matched = matched + excluded.matched`,
  )
  return {
    countCalls: (rows) => {
      for (const { latencies, ...cell } of cellsOf(rows))
        count.run({ ...cell, latencies: packLatencies(latencies) })
    },
    countScore: ({ kind, value, isMatched }, { atMs, projectId }) => {
      const matched = isMatched ? 1 : 0
      void score.run({ projectId, kind, hourMs: hourOf(atMs), bin: binOf(value), matched })
    },
  }
}

/**
 * Teaches a connection to add histograms, so that a count costs one statement and not two, and a
 * chart brings one row for each of its points and not one for each hour, key, action and code.
 */
export function teachLatencies(on: DatabaseSync): void {
  on.function('mergeLatencies', { deterministic: true }, mergeLatencies)
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
    const { projectId, keyId, action, code } = row
    const hour = hourOf(row.atMs)
    const name = `${hour} ${keyId} ${code} ${action}`
    const before = cells.get(name)
    const latencies = before?.latencies ?? emptyLatencies()
    addLatency(latencies, row.latencyMs)
    cells.set(name, {
      hourMs: hour,
      projectId,
      keyId,
      action,
      code,
      calls: (before?.calls ?? 0) + 1,
      billed: (before?.billed ?? 0) + (row.transferId === null ? 0 : 1),
      costMicros: (before?.costMicros ?? 0n) + row.costMicros,
      latencies,
    })
  }
  return cells.values()
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
