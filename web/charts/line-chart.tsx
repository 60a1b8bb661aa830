import { LineChart as Lines } from '@mantine/charts'
import '@mantine/charts/styles.css'
import { ChartFrame } from './chart-frame.tsx'
import { bucketLabels, legendOf, recordsOf, type Series } from './series.ts'

type Parts = {
  readonly label: string
  readonly buckets: readonly string[]
  readonly series: readonly Series[]
  readonly format: (value: number) => string
}

/** Values over time, a line each; gaps stay gaps. */
export function LineChart({ label, buckets, series, format }: Parts) {
  return (
    <ChartFrame label={label}>
      <Lines
        h={220}
        data={recordsOf(bucketLabels(buckets), series)}
        dataKey="bucket"
        series={legendOf(series)}
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
