import { Text } from '@mantine/core'
import { groupFilter, type LogSearch } from '../charts/log-search.ts'

type CountSeries = {
  readonly name: string
  readonly order: number | null
  readonly values: readonly number[]
}

/** More colours than this are hard to distinguish. */
const seriesMax = 8

/**
 * Returns the first series, which are the largest, and the sum of the others as one more series, so that
 * the height of a bar is the total.
 */
export function largestSeries(series: readonly CountSeries[]): readonly CountSeries[] {
  const others = series.slice(shownOf(series))
  if (others.length === 0) return series
  const values = (others[0]?.values ?? []).map((_, index) =>
    others.reduce((sum, one) => sum + (one.values[index] ?? 0), 0),
  )
  return [
    ...series.slice(0, shownOf(series)),
    { name: `${others.length} others`, order: null, values },
  ]
}

/** Returns the number of series that are shown apart. One colour is for the sum of the others. */
function shownOf({ length }: readonly unknown[]): number {
  return length <= seriesMax ? length : seriesMax - 1
}

/** Returns the filter of the log for a shown series. The log has no filter for the others. */
export function groupOf(
  series: readonly { readonly id: string }[],
  index: number,
  groupBy: string,
): LogSearch {
  return index < shownOf(series) ? groupFilter(groupBy, series[index]?.id ?? '') : {}
}

/** States that the chart shows only the largest series apart. */
export function LargestSeriesNote({ count, of }: { readonly count: number; readonly of: string }) {
  if (count <= seriesMax) return null
  return (
    <Text size="xs" c="dimmed" my="xs">
      The chart shows the top {seriesMax - 1} of {count} {of}. The table contains all.
    </Text>
  )
}
