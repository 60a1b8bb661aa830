import { LineChart as Lines } from '@mantine/charts'
import '@mantine/charts/styles.css'
import { ChartFrame } from './chart-frame.tsx'
import { formatBucketLabels, toChartLegend, toChartData, type ChartSeries } from './series.ts'

type Props = {
  readonly label: string
  readonly buckets: readonly string[]
  readonly series: readonly ChartSeries[]
  readonly format: (value: number) => string
}

/** Values over time, a line each; gaps stay gaps. */
export function LineChart({ label, buckets, series, format }: Props) {
  return (
    <ChartFrame label={label}>
      <Lines
        h={220}
        data={toChartData(formatBucketLabels(buckets), series)}
        dataKey="bucket"
        series={toChartLegend(series)}
        withLegend
        curveType="linear"
        connectNulls={false}
        withDots={buckets.length < 40}
        tickLine="none"
        valueFormatter={format}
        lineProps={{ isAnimationActive: false }}
      />
    </ChartFrame>
  )
}
