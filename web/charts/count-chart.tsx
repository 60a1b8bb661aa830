import { BarChart } from '@mantine/charts'
import '@mantine/charts/styles.css'
import { ChartFrame } from './chart-frame.tsx'
import { formatBucketLabels, toChartLegend, toChartData, type ChartSeries } from './series.ts'

type Props = {
  readonly label: string
  readonly buckets: readonly string[]
  readonly series: readonly ChartSeries[]
  readonly format?: (value: number) => string
  /** Opens the calls of a bar. The panel of the chart offers the same with the keyboard. */
  readonly onSelect?: (bucketIndex: number, seriesIndex: number) => void
}

/** A stacked bar chart of counts or amounts over time. */
export function CountChart({ label, buckets, series, format, onSelect }: Props) {
  return (
    <ChartFrame label={label}>
      <BarChart
        h={220}
        type="stacked"
        data={toChartData(formatBucketLabels(buckets), series)}
        dataKey="bucket"
        series={toChartLegend(series)}
        withLegend={series.length > 1}
        tickLine="none"
        gridAxis="x"
        {...(format ? { valueFormatter: format } : {})}
        barProps={({ name }) => ({
          isAnimationActive: false,
          ...(onSelect && {
            className: 'fg-bar',
            onClick: (_bar: unknown, bucketIndex: number) =>
              onSelect(bucketIndex, Number(name.slice(1))),
          }),
        })}
      />
    </ChartFrame>
  )
}
