import { Text } from '@mantine/core'
import type { MeasuredGalleryTable, MeasuredRate } from '../../api/responses.ts'
import { ScoreRateChart } from '../../charts/lazy-charts.tsx'
import { formatCount } from '../../format/numbers.ts'
import { DataTable, type Column } from '../../lists/data-table.tsx'

/** The curve and the table of the gallery, beside the table of the model. */
export function MeasuredRates({ measurement }: { readonly measurement: MeasuredGalleryTable }) {
  const { report, curve } = measurement
  const { points, subjects } = report
  const refused = points.filter(({ source }) => source === 'model')
  return (
    <>
      <ScoreRateChart
        label="False-match rate by score, in this gallery and in the model's table. The table contains the values of both tables."
        curves={[
          { name: 'gallery, counted', points: curve },
          { name: 'gallery table', points },
          {
            name: 'model table',
            points: points.map(({ fmr, shippedScore: score }) => ({ fmr, score })),
          },
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
