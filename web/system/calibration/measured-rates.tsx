import { Skeleton, Text } from '@mantine/core'
import { lazy, Suspense } from 'react'
import type { MeasuredGalleryTable, MeasuredRate } from '../../api/responses.ts'
import type { ScoreMark } from '../../charts/score-marks.ts'
import { ScoreRateChart } from '../../charts/lazy-charts.tsx'
import { formatCount } from '../../format/numbers.ts'
import { DataTable, type Column } from '../../lists/data-table.tsx'
import type { ScoreTable } from './table-changes.ts'

const DistributionChart = lazy(async () => ({
  default: (await import('./distribution-chart.tsx')).DistributionChart,
}))

type Props = {
  readonly measurement: MeasuredGalleryTable
  /** The table that the gallery uses now, if it is not that of the model. */
  readonly current: ScoreTable | undefined
}

/** The default threshold of svc.verify. */
const markedSimilarity = 0.8

/** The scores, the curve and the table of the gallery, beside the table of the model. */
export function MeasuredRates({ measurement, current }: Props) {
  const { report, curve, distribution } = measurement
  const { points, subjects } = report
  const shipped = points.map(({ shippedScore, ...point }) => ({ ...point, score: shippedScore }))
  const marks = [...marksOf(current ?? shipped, 'now'), ...marksOf(points, 'measured')]
  const refused = points.filter(({ source }) => source === 'model')
  return (
    <>
      <Suspense fallback={<Skeleton h={260} />}>
        <DistributionChart distribution={distribution} marks={marks} />
      </Suspense>
      <ScoreRateChart
        marks={marks}
        label="False-match rate by score, in this gallery and in the model's table. The table contains the values of both tables."
        curves={[
          { name: 'gallery, counted', points: curve },
          { name: 'gallery table', points },
          { name: 'model table', points: shipped },
          ...(current ? [{ name: 'table in use', points: current }] : []),
        ]}
      />
      <DataTable
        caption="Rates of this gallery and of the model"
        rows={points}
        rowKey={({ fmr }) => String(fmr)}
        columns={columns}
        empty={null}
      />
      {refused.map(({ fmr, subjectsNeeded }) => (
        <Text key={fmr} size="sm">
          {fmr.toExponential(0)} is not measured: it needs {formatCount(subjectsNeeded)} subjects,
          the gallery has {formatCount(subjects)}. The step to its score is that of the model, or of
          the extrapolated tail if that is larger.
        </Text>
      ))}
    </>
  )
}

/** Returns the mark of the default threshold in a table. */
function marksOf(table: ScoreTable, name: string): readonly ScoreMark[] {
  const point = table.find(({ similarity }) => Math.abs(similarity - markedSimilarity) < 1e-6)
  return point ? [{ label: `${markedSimilarity.toFixed(2)} ${name}`, score: point.score }] : []
}

const columns: readonly Column<MeasuredRate>[] = [
  { name: 'Similarity', align: 'right', renderCell: ({ similarity }) => similarity.toFixed(2) },
  { name: 'False-match rate', align: 'right', renderCell: ({ fmr }) => fmr.toExponential(0) },
  { name: 'Source', renderCell: ({ source }) => (source === 'model' ? 'not measured' : source) },
  { name: 'Score, gallery', align: 'right', renderCell: ({ score }) => score.toFixed(4) },
  {
    name: 'Pairs above',
    align: 'right',
    renderCell: ({ pairsAbove }) => formatCount(pairsAbove),
  },
  {
    name: 'Without suspected',
    align: 'right',
    renderCell: ({ scoreWithoutSuspected }) => scoreWithoutSuspected.toFixed(4),
  },
  {
    name: 'Score, model',
    align: 'right',
    renderCell: ({ shippedScore }) => shippedScore.toFixed(4),
  },
  {
    name: 'Rate there',
    align: 'right',
    renderCell: ({ fmrAtShippedScore }) => fmrAtShippedScore.toExponential(1),
  },
]
