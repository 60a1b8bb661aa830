import { formatCount, formatQuantity } from '../format/numbers.ts'
import { ColumnPlot } from './columns/column-plot.tsx'
import type { ChartMark } from './columns/chart-parts.ts'
import type { LogSearch } from './log-search.ts'
import { seriesColor } from './series.ts'

type Props = {
  readonly label: string
  /** The lower edge of each bin, followed by the upper edge of the last bin. */
  readonly edges: readonly number[]
  readonly counts: readonly number[]
  readonly threshold: number | null
  /** The calls of the chart. Each bar becomes a link to them. */
  readonly search?: LogSearch
}

const thresholdColor = 'var(--fg-warn)'

/** The number of calls per score, with a line at the threshold. */
export function Histogram({ label, edges, counts, threshold, search }: Props) {
  const color = seriesColor(0)
  const edgeText = (index: number): string => (edges[index] ?? 0).toFixed(2)
  const columns = counts.map((calls, index) => ({
    label: edgeText(index),
    values: [
      { name: `${edgeText(index)} to ${edgeText(index + 1)}`, text: formatCount(calls), color },
    ],
  }))
  const marks = columns.flatMap(({ values }, column): readonly ChartMark[] => {
    const calls = counts[column] ?? 0
    if (calls === 0) return []
    const markLabel = `Score ${values[0]?.name}: ${formatQuantity(calls, 'call')}`
    return [{ column, series: 0, from: 0, to: calls, color, label: markLabel, search }]
  })
  return (
    <ColumnPlot
      label={label}
      columns={columns}
      marks={marks}
      legend={
        threshold === null
          ? []
          : [
              { name: 'Calls', color },
              { name: `Threshold ${threshold.toFixed(2)}`, color: thresholdColor, isLine: true },
            ]
      }
      valueMax={Math.max(...counts)}
      format={formatCount}
      isWhole
      renderLines={() =>
        threshold !== null && (
          <span
            className="fg-chart-threshold"
            style={{ left: `${shareOf(edges, threshold) * 100}%`, background: thresholdColor }}
          />
        )
      }
    />
  )
}

/** Returns the position of a score between the first and the last edge, 0 to 1. */
function shareOf(edges: readonly number[], score: number): number {
  const [first = 0, last = 1] = [edges[0], edges.at(-1)]
  return Math.min(1, Math.max(0, (score - first) / (last - first)))
}
