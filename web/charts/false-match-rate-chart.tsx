import { ScatterChart } from '@mantine/charts'
import '@mantine/charts/styles.css'
import type { ConsoleCalibrationPoint } from '../api/responses.ts'
import { ChartFrame, plotProps } from './chart-frame.tsx'
import { formatPowerOfTen } from './series.ts'

const label = 'False-match rate by threshold. The table contains the same values.'

/** The false-match rate by similarity, on a logarithmic scale. */
export function FalseMatchRateChart({
  points,
}: {
  readonly points: readonly ConsoleCalibrationPoint[]
}) {
  const data = points.map(({ similarity, fmr }) => ({
    similarity,
    power: Math.log10(fmr),
  }))
  return (
    <ChartFrame label={label}>
      <ScatterChart
        scatterChartProps={plotProps(label)}
        h={260}
        data={[{ name: 'False-match rate', color: 'petrol.5', data }]}
        dataKey={{ x: 'similarity', y: 'power' }}
        xAxisLabel="threshold (similarity)"
        yAxisLabel="false-match rate"
        valueFormatter={{
          x: (value) => value.toFixed(2),
          y: formatPowerOfTen,
        }}
        scatterProps={{
          line: { stroke: 'var(--mantine-color-petrol-5)' },
          isAnimationActive: false,
        }}
        xAxisProps={{ domain: [0.5, 1] }}
        yAxisProps={{ domain: [-8, 0], ticks: [-8, -6, -4, -2, 0], width: 72 }}
      />
    </ChartFrame>
  )
}
