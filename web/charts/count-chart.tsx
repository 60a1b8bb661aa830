import { BarChart } from '@mantine/charts'
import '@mantine/charts/styles.css'
import { ChartFrame } from './chart-frame.tsx'
import { bucketLabels, legendOf, recordsOf, type Series } from './series.ts'

type Parts = {
  readonly label: string
  readonly buckets: readonly string[]
  readonly series: readonly Series[]
  readonly format?: (value: number) => string
}

/** Amounts over time, stacked. */
export function CountChart({ label, buckets, series, format }: Parts) {
  return (
    <ChartFrame label={label}>
      <BarChart
        h={220}
        type="stacked"
        data={recordsOf(bucketLabels(buckets), series)}
        dataKey="bucket"
        series={legendOf(series)}
        withLegend={series.length > 1}
        tickLine="none"
        gridAxis="x"
        {...(format ? { valueFormatter: format } : {})}
        barProps={{ isAnimationActive: false }}
      />
    </ChartFrame>
  )
}
