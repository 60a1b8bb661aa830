import { LineChart as MantineLineChart } from '@mantine/charts'
import '@mantine/charts/styles.css'
import { ChartFrame } from './chart-frame.tsx'
import { formatBucketLabels, toChartLegend, toChartData, type ChartSeries } from './series.ts'

type Props = {
  readonly label: string
  readonly buckets: readonly string[]
  readonly series: readonly ChartSeries[]
  readonly format: (value: number) => string
  /** Opens the calls of a bucket. The panel of the chart offers the same with the keyboard. */
  readonly onSelect?: (bucketIndex: number) => void
}

/** One line per series over time. Missing values leave gaps. */
export function LineChart({ label, buckets, series, format, onSelect }: Props) {
  return (
    <ChartFrame label={label}>
      <MantineLineChart
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
        {...(onSelect && {
          className: 'fg-bar',
          lineChartProps: {
            onClick: ({ activeTooltipIndex: index }: { activeTooltipIndex?: unknown }) => {
              if (index !== undefined && index !== null) onSelect(Number(index))
            },
          },
        })}
      />
    </ChartFrame>
  )
}
