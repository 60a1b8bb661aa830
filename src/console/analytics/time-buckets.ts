import { hourMs } from '../../store/gate/hourly-counts.ts'
import type { z } from 'zod'
import type { bucket } from '../server/schemas.ts'

const dayMs = 24 * hourMs
const hoursMax = 32 * 24
const daysMax = 3 * 366

/** The hours or days, UTC, that a chart counts by; all of them whole. */
export type TimeBuckets = {
  readonly stepMs: number
  readonly fromMs: number
  readonly toMs: number
  /** When each begins, ISO 8601. */
  readonly buckets: readonly string[]
  readonly indexOf: (atMs: number) => number
}

export type TimeBucketRange = {
  readonly fromUtc?: Date | undefined
  readonly toUtc?: Date | undefined
  readonly bucket?: z.output<typeof bucket> | undefined
}

/**
 * The steps that a range touches; without one, the last 24 hours. A range that is too long for its
 * hours is counted by days, and cut at three years.
 */
export function createTimeBuckets(
  { fromUtc, toUtc, bucket }: TimeBucketRange,
  nowMs: number,
): TimeBuckets {
  const endMs = toUtc?.getTime() ?? nowMs + 1
  const beginMs = fromUtc?.getTime() ?? Math.floor(endMs / hourMs) * hourMs - 23 * hourMs
  const isLong = endMs - beginMs > hoursMax * hourMs
  const stepMs = bucket === 'day' || isLong ? dayMs : hourMs
  const toMs = Math.ceil(endMs / stepMs) * stepMs
  const fromMs = Math.max(Math.floor(beginMs / stepMs) * stepMs, toMs - daysMax * dayMs)
  const count = Math.max(0, (toMs - fromMs) / stepMs)
  const buckets = Array.from({ length: count }, (_, at) =>
    new Date(fromMs + at * stepMs).toISOString(),
  )
  return { stepMs, fromMs, toMs, buckets, indexOf: (atMs) => (atMs - fromMs) / stepMs }
}

export type TimeBucketRow = { readonly atMs: number; readonly id: string }

/** Rows of a step and an id each as one line for each id, the largest total first. */
export function groupSeries<Row extends TimeBucketRow, Value>(
  rows: readonly Row[],
  { buckets, indexOf }: TimeBuckets,
  { zero, value }: { readonly zero: Value; readonly value: (row: Row) => Value },
): ReadonlyMap<string, Value[]> {
  const lines = new Map<string, Value[]>()
  for (const row of rows) {
    const line = lines.get(row.id) ?? buckets.map(() => zero)
    line[indexOf(row.atMs)] = value(row)
    lines.set(row.id, line)
  }
  return lines
}
