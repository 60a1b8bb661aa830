import { type RequestedTimes, resolveTimeRange } from '../server/input.ts'
import { dayMs, formatUtc, hourMs } from '../../lib/clock.ts'

const hoursMax = 32 * 24
const daysMax = 3 * 366

/** The hours, UTC, of a chart, in buckets of one hour or one day. */
export type TimeBuckets = ReturnType<typeof createTimeBuckets>

type TimeBucketRange = RequestedTimes & { readonly bucket?: 'hour' | 'day' | undefined }

/**
 * Returns the buckets of the hours that overlap a range; without a range, of the last 24 hours. A
 * period that ends now has its number of hours: the current hour is the last one. A range of more than
 * 32 days has daily buckets. A range of more than three years is cut to its last three years.
 */
export function createTimeBuckets(range: TimeBucketRange, nowMs: number) {
  const period = range.period ?? (range.fromUtc || range.toUtc ? undefined : '24h')
  const { fromUtc, toUtc } = resolveTimeRange({ ...range, period }, nowMs)
  const endMs = Math.ceil((toUtc?.getTime() ?? nowMs + 1) / hourMs) * hourMs
  const startMs = fromUtc?.getTime() ?? endMs - dayMs
  const startHourMs =
    period === undefined
      ? Math.floor(startMs / hourMs) * hourMs
      : endMs - Math.round((nowMs - startMs) / hourMs) * hourMs
  const isLong = endMs - startHourMs > hoursMax * hourMs
  const stepMs = range.bucket === 'day' || isLong ? dayMs : hourMs
  /** The start of the first counted hour. The first bucket of whole days can begin before it. */
  const fromMs = Math.max(startHourMs, endMs - daysMax * dayMs)
  const firstMs = Math.floor(fromMs / stepMs) * stepMs
  const count = Math.max(0, Math.ceil((endMs - firstMs) / stepMs))
  const buckets = Array.from({ length: count }, (_, index) => formatUtc(firstMs + index * stepMs))
  const indexOf = (atMs: number): number => (atMs - firstMs) / stepMs
  return { stepMs, fromMs, toMs: endMs, buckets, indexOf }
}

/** Groups rows by id: the sum of each bucket, `zero` where there is no row. */
export function groupSeries<Row extends { readonly atMs: number; readonly id: string }, Value>(
  rows: readonly Row[],
  { buckets, indexOf }: TimeBuckets,
  { zero, add }: { readonly zero: Value; readonly add: (sum: Value, row: Row) => Value },
): ReadonlyMap<string, Value[]> {
  const seriesById = new Map<string, Value[]>()
  for (const row of rows) {
    const series = seriesById.get(row.id) ?? buckets.map(() => zero)
    const index = indexOf(row.atMs)
    series[index] = add(series[index] ?? zero, row)
    seriesById.set(row.id, series)
  }
  return seriesById
}
