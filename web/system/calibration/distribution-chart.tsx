import { BarChart } from '@mantine/charts'
import '@mantine/charts/styles.css'
import { Text } from '@mantine/core'
import { ChartFrame } from '../../charts/chart-frame.tsx'
import type { MeasuredGalleryTable } from '../../api/responses.ts'
import { formatCount } from '../../format/numbers.ts'

export type ScoreMark = { readonly label: string; readonly score: number }

type Props = {
  readonly distribution: MeasuredGalleryTable['distribution']
  readonly marks: readonly ScoreMark[]
}

/** The shares of pairs by score: different people, and the templates of one person. */
export function DistributionChart({ distribution, marks }: Props) {
  const { edges, different, same } = distribution
  const [differentPairs, samePairs] = [sumOf(different), sumOf(same)]
  const data = different.map((count, index) => ({
    score: (edges[index] ?? 0).toFixed(2),
    different: shareOf(count, differentPairs),
    same: shareOf(same[index] ?? 0, samePairs),
  }))
  return (
    <ChartFrame label="Scores of pairs of different people and of one person, as shares of their pairs.">
      <BarChart
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
        referenceLines={marks.map(({ label, score }, index) => ({
          x: binLabelOf(edges, score),
          color: 'gray.6',
          label,
          labelPosition: index % 2 === 0 ? ('insideTopRight' as const) : ('insideTopLeft' as const),
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
