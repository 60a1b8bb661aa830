import { BarChart } from '@mantine/charts'
import '@mantine/charts/styles.css'
import { ChartFrame } from './chart-frame.tsx'
import { formatBucketLabels, toChartLegend, toChartData, type ChartSeries } from './series.ts'

type Props = {
  readonly label: string
  readonly buckets: readonly string[]
  readonly series: readonly ChartSeries[]
  readonly format?: (value: number) => string
}

/** A stacked bar chart of counts or amounts over time. */
export function CountChart({ label, buckets, series, format }: Props) {
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
        barProps={{ isAnimationActive: false }}
      />
    </ChartFrame>
  )
}
