import { BarChart } from '@mantine/charts'
import '@mantine/charts/styles.css'
import { Text } from '@mantine/core'
import { ChartFrame, plotProps } from '../../charts/chart-frame.tsx'
import { toReferenceLines, type ScoreMark } from '../../charts/score-marks.ts'
import type { MeasuredGalleryTable } from '../../api/responses.ts'
import { formatCount } from '../../format/numbers.ts'

type Props = {
  readonly distribution: MeasuredGalleryTable['distribution']
  readonly marks: readonly ScoreMark[]
}

const label = 'Scores of pairs of different people and of one person, as shares of their pairs.'

/** The shares of pairs by score: different people, and the templates of one person. */
export function DistributionChart({ distribution, marks }: Props) {
  const { different, same } = distribution
  const edges = extendEdges(distribution.edges, marks)
  const [differentPairs, samePairs] = [sumOf(different), sumOf(same)]
  const data = edges.slice(0, -1).map((edge, index) => ({
    score: edge.toFixed(2),
    different: shareOf(different[index] ?? 0, differentPairs),
    same: shareOf(same[index] ?? 0, samePairs),
  }))
  return (
    <ChartFrame label={label}>
      <BarChart
        barChartProps={plotProps(label)}
        h={260}
        data={data}
        dataKey="score"
        withLegend
        gridAxis="x"
        tickLine="none"
        xAxisLabel="score"
        yAxisProps={{ width: 56 }}
        valueFormatter={(value) => `${value.toFixed(1)} %`}
        series={[
          { name: 'different', label: 'Different people', color: 'petrol.5' },
          ...(samePairs > 0 ? [{ name: 'same', label: 'One person', color: 'signal.5' }] : []),
        ]}
        barProps={{ isAnimationActive: false }}
        referenceLines={toReferenceLines(marks).map(({ score, ...line }) => ({
          ...line,
          x: binLabelOf(edges, score),
        }))}
      />
      <Text size="xs" c="dimmed">
        {samePairs > 0
          ? `${formatCount(differentPairs)} pairs of different people, ${formatCount(samePairs)} pairs of templates of one person.`
          : `${formatCount(differentPairs)} pairs of different people. No subject has two templates, so that scores of one person are not available.`}{' '}
        Lines: {marks.map(({ label, score }) => `${label} at score ${score.toFixed(3)}`).join('; ')}
        .
      </Text>
    </ChartFrame>
  )
}

/** The share of the chart beyond the highest mark, for its label. */
const labelShare = 0.15

/** Adds bins after the last one until the chart contains all marks and the label of the highest. */
function extendEdges(edges: readonly number[], marks: readonly ScoreMark[]): readonly number[] {
  const [first, second] = edges
  const last = edges.at(-1)
  if (first === undefined || second === undefined || last === undefined) return edges
  const width = second - first
  const highest = Math.max(...marks.map(({ score }) => score), first)
  const end = first + (highest - first) / (1 - labelShare)
  const added = Math.max(0, Math.min(edges.length, Math.ceil((end - last) / width)))
  return [...edges, ...Array.from({ length: added }, (_, index) => last + (index + 1) * width)]
}

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0)
}

function shareOf(count: number, total: number): number {
  return total === 0 ? 0 : (100 * count) / total
}

/** Returns the label of the bin that contains a score, or of the nearest bin. */
function binLabelOf(edges: readonly number[], score: number): string {
  const lower = edges.slice(0, -1).findLast((edge) => edge <= score)
  return (lower ?? edges[0] ?? 0).toFixed(2)
}
