import { ColumnPlot } from './columns/column-plot.tsx'
import type { LogSearch } from './log-search.ts'
import { formatBucketLabels, seriesColor, type ChartSeries } from './series.ts'

type Props = {
  readonly label: string
  readonly buckets: readonly string[]
  readonly series: readonly ChartSeries[]
  readonly format: (value: number) => string
  /** Returns the calls of a bucket, which becomes a link to them. */
  readonly searchOf?: (bucketIndex: number) => LogSearch
}

/** One line per series over time. Missing values leave gaps. */
export function LineChart({ label, buckets, series, format, searchOf }: Props) {
  const columns = formatBucketLabels(buckets).map((text, bucketIndex) => ({
    label: text,
    values: series.map(({ name, values }, index) => {
      const value = values[bucketIndex] ?? null
      return { name, text: value === null ? '–' : format(value), color: seriesColor(index) }
    }),
  }))
  const marks = columns.flatMap(({ label: text, values }, column) => {
    if (!series.some((one) => (one.values[column] ?? null) !== null)) return []
    const facts = values.map((value) => `${value.name} ${value.text}`).join(', ')
    return [{ column, series: 0, label: `${text}: ${facts}`, search: searchOf?.(column) }]
  })
  const present = series.flatMap(({ values }) => values.filter((value) => value !== null))
  return (
    <ColumnPlot
      label={label}
      columns={columns}
      marks={marks}
      legend={series.map(({ name }, index) => ({
        name,
        color: seriesColor(index),
        isLine: true,
      }))}
      valueMax={Math.max(0, ...present)}
      format={format}
      renderLines={(axisMax) => (
        <svg viewBox={`0 0 ${buckets.length} 1`} preserveAspectRatio="none" aria-hidden>
          {series.flatMap(({ values }, index) =>
            linesOf(values, axisMax).map(({ points, isDot }) => (
              <polyline
                key={`${index} ${points}`}
                points={points}
                data-dot={isDot ? '' : undefined}
                stroke={seriesColor(index)}
              />
            )),
          )}
        </svg>
      )}
    />
  )
}

type Line = { readonly points: string; readonly isDot: boolean }

/** Returns the points of each part without gaps. A single value is a line of no length: a dot. */
function linesOf(values: readonly (number | null)[], axisMax: number): readonly Line[] {
  const lines: string[][] = [[]]
  for (const [index, value] of values.entries()) {
    if (value === null) lines.push([])
    else lines.at(-1)?.push(`${index + 0.5},${1 - value / axisMax}`)
  }
  return lines.flatMap((points) => {
    const [first] = points
    if (first === undefined) return []
    const isDot = points.length === 1
    return [{ points: isDot ? `${first} ${first}` : points.join(' '), isDot }]
  })
}
