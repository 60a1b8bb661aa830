import { ScatterChart } from '@mantine/charts'
import '@mantine/charts/styles.css'
import { ChartFrame, plotProps } from './chart-frame.tsx'
import { toReferenceLines, type ScoreMark } from './score-marks.ts'
import { formatPowerOfTen, toChartLegend } from './series.ts'

type RateByScore = { readonly score: number; readonly fmr: number }

type Props = {
  /** The content of the chart as text, for screen readers. */
  readonly label: string
  /** Scores to mark, such as thresholds. */
  readonly marks?: readonly ScoreMark[]
  readonly curves: readonly { readonly name: string; readonly points: readonly RateByScore[] }[]
}

/** False-match rates by score, on a logarithmic scale, one line per curve. */
export function ScoreRateChart({ label, curves, marks }: Props) {
  const colors = toChartLegend(curves.map(({ name }) => ({ name, values: [] })))
  const scores = curves.flatMap(({ points }) => points.map(({ score }) => score))
  const domain = [Math.floor(Math.min(...scores) * 2) / 2, Math.ceil(Math.max(...scores) * 2) / 2]
  return (
    <ChartFrame label={label}>
      <ScatterChart
        scatterChartProps={plotProps(label)}
        h={300}
        data={curves.map(({ name, points }, index) => ({
          name,
          color: colors[index]?.color ?? 'gray.6',
          data: points.map(({ score, fmr }) => ({ score, power: Math.log10(fmr) })),
        }))}
        dataKey={{ x: 'score', y: 'power' }}
        referenceLines={toReferenceLines(marks ?? []).map(({ score, ...line }) => ({
          ...line,
          x: score,
        }))}
        xAxisLabel="score"
        yAxisLabel="false-match rate"
        withLegend
        valueFormatter={{ x: (value) => value.toFixed(2), y: formatPowerOfTen }}
        scatterProps={{ line: true, isAnimationActive: false }}
        xAxisProps={{ domain }}
        yAxisProps={{ domain: [-6, 0], ticks: [-6, -4, -2, 0], width: 72 }}
      />
    </ChartFrame>
  )
}
