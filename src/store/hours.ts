import type { DatabaseSync } from 'node:sqlite'
import {
  addLatency,
  emptyLatencies,
  packLatencies,
  unpackLatencies,
} from '../lib/latency-histogram.ts'
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
  readonly countCall: (row: Omit<CallRow, 'callId'>) => void
  readonly countScore: (score: Score, of: Pick<CallRow, 'atMs' | 'projectId'>) => void
}

export function hourStatements(on: DatabaseSync): HourStatements {
  const cell = `hourMs = :hourMs and projectId = :projectId and keyId = :keyId
    and action = :action and code = :code`
  const find = prepare<Pick<CallHourRow, 'latencies'>>(
    on,
    `select latencies from callHours where ${cell}`,
  )
  const open = prepare(
    on,
    `insert into callHours (hourMs, projectId, keyId, action, code, calls, billed, costMicros,
       latencies)
     values (:hourMs, :projectId, :keyId, :action, :code, 1, :billed, :costMicros, :latencies)`,
  )
  const add = prepare(
    on,
    `update callHours set calls = calls + 1, billed = billed + :billed,
       costMicros = costMicros + :costMicros, latencies = :latencies
     where ${cell}`,
  )
  const score = prepare(
    on,
    `insert into scoreHours (projectId, kind, hourMs, bin, count, matched)
     values (:projectId, :kind, :hourMs, :bin, 1, :matched)
     on conflict do update set count = count + 1, matched = matched + excluded.matched`,
  )
  return {
    countCall: (row) => {
      const of = { ...row, hourMs: hourOf(row.atMs) }
      const found = find.first(of)
      const latencies = found ? unpackLatencies(found.latencies) : emptyLatencies()
      addLatency(latencies, row.latencyMs)
      const billed = row.transferId === null ? 0 : 1
      const counted = { ...of, billed, latencies: packLatencies(latencies) }
      if (found) add.run(counted)
      else open.run(counted)
    },
    countScore: ({ kind, value, isMatched }, { atMs, projectId }) => {
      const matched = isMatched ? 1 : 0
      void score.run({ projectId, kind, hourMs: hourOf(atMs), bin: binOf(value), matched })
    },
  }
}

export function hourOf(atMs: number): number {
  return Math.floor(atMs / hourMs) * hourMs
}

function binOf(value: number): number {
  return Math.min(scoreBins - 1, Math.max(0, Math.floor(value * scoreBins)))
}
