import { hourMs } from '../../store/gate/hourly-counts.ts'
import type { z } from 'zod'
import { resolveTimeRange, type bucket, type period } from '../server/field-schemas.ts'

const dayMs = 24 * hourMs
const hoursMax = 32 * 24
const daysMax = 3 * 366

/** The whole hours or days, UTC, of a chart. */
export type TimeBuckets = {
  readonly stepMs: number
  readonly fromMs: number
  readonly toMs: number
  /** The start of each bucket, ISO 8601. */
  readonly buckets: readonly string[]
  readonly indexOf: (atMs: number) => number
}

export type TimeBucketRange = {
  readonly fromUtc?: Date | undefined
  readonly toUtc?: Date | undefined
  readonly period?: z.output<typeof period>
  readonly bucket?: z.output<typeof bucket> | undefined
}

/**
 * Returns the buckets that overlap a range; without a range, the last 24 hours. A range of more than
 * 32 days has daily buckets. A range of more than three years is cut to its last three years.
 */
export function createTimeBuckets(range: TimeBucketRange, nowMs: number): TimeBuckets {
  const { fromUtc, toUtc } = resolveTimeRange(range, nowMs)
  const endMs = toUtc?.getTime() ?? nowMs + 1
  const startMs = fromUtc?.getTime() ?? Math.floor(endMs / hourMs) * hourMs - 23 * hourMs
  const isLong = endMs - startMs > hoursMax * hourMs
  const stepMs = range.bucket === 'day' || isLong ? dayMs : hourMs
  const toMs = Math.ceil(endMs / stepMs) * stepMs
  const fromMs = Math.max(Math.floor(startMs / stepMs) * stepMs, toMs - daysMax * dayMs)
  const count = Math.max(0, (toMs - fromMs) / stepMs)
  const buckets = Array.from({ length: count }, (_, index) =>
    new Date(fromMs + index * stepMs).toISOString(),
  )
  return { stepMs, fromMs, toMs, buckets, indexOf: (atMs) => (atMs - fromMs) / stepMs }
}

export type TimeBucketRow = { readonly atMs: number; readonly id: string }

/** Groups rows by id: one value for each bucket, `zero` where there is no row. */
export function groupSeries<Row extends TimeBucketRow, Value>(
  rows: readonly Row[],
  { buckets, indexOf }: TimeBuckets,
  { zero, value }: { readonly zero: Value; readonly value: (row: Row) => Value },
): ReadonlyMap<string, Value[]> {
  const seriesById = new Map<string, Value[]>()
  for (const row of rows) {
    const series = seriesById.get(row.id) ?? buckets.map(() => zero)
    series[indexOf(row.atMs)] = value(row)
    seriesById.set(row.id, series)
  }
  return seriesById
}
