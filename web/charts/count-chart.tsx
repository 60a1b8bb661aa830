import { formatCount } from '../format/numbers.ts'
import { ColumnPlot } from './columns/column-plot.tsx'
import type { ChartMark } from './columns/chart-parts.ts'
import type { LogSearch } from './log-search.ts'
import { formatBucketLabels, seriesColors, type ChartSeries } from './series.ts'

type Props = {
  readonly label: string
  readonly buckets: readonly string[]
  readonly series: readonly ChartSeries[]
  /** Formats amounts. Without it the values are counts. */
  readonly format?: (value: number) => string
  /** Returns the calls of a bar, which becomes a link to them. */
  readonly searchOf?: (bucketIndex: number, seriesIndex: number) => LogSearch
}

/** A stacked bar chart of counts or amounts over time. */
export function CountChart({ label, buckets, series, format = formatCount, searchOf }: Props) {
  const labels = formatBucketLabels(buckets)
  const colors = seriesColors(series)
  const colorOf = (index: number): string => colors[index] ?? ''
  const valueOf = (index: number, bucketIndex: number) => series[index]?.values[bucketIndex] ?? 0
  const columns = labels.map((text, bucketIndex) => ({
    label: text,
    values: series.map(({ name }, index) => ({
      name,
      text: format(valueOf(index, bucketIndex)),
      color: colorOf(index),
    })),
  }))
  const marks = labels.flatMap((text, column): readonly ChartMark[] => {
    let from = 0
    return series.flatMap(({ name }, index) => {
      const value = valueOf(index, column)
      if (value <= 0) return []
      const bounds = { from, to: from + value }
      from += value
      const search = searchOf?.(column, index)
      const markLabel = `${text}, ${name}: ${format(value)}`
      const shown = { color: colorOf(index), label: markLabel, search }
      return [{ column, series: index, ...bounds, ...shown }]
    })
  })
  return (
    <ColumnPlot
      label={label}
      columns={columns}
      marks={marks}
      legend={
        series.length > 1 ? series.map(({ name }, index) => ({ name, color: colorOf(index) })) : []
      }
      valueMax={Math.max(0, ...marks.map(({ to = 0 }) => to))}
      format={format}
      isWhole={format === formatCount}
    />
  )
}
