import type { PlaygroundSettings } from '../api/responses.ts'
import { useApiQuery } from '../api/use-api.ts'
import { StatusTag } from '../components/status-tag.tsx'
import { formatCount } from '../format/numbers.ts'
import { DataTable } from '../lists/data-table.tsx'
import type { ActionValues } from '../playground/result/action-values.ts'
import { falseMatchRateAt } from '../playground/result/judge.ts'

type Props = {
  readonly value: ActionValues['svc.verify']
  readonly settings: PlaygroundSettings
  readonly projectId: string
}

type ThresholdRow = { readonly name: string; readonly threshold: number }

/** The decision at the common thresholds, and at that of the project. */
export function ThresholdTable({ value, settings, projectId }: Props) {
  const project = useApiQuery('/projects/:projectId', { pathParams: { projectId } })
  const ofProject = project.data?.identifyThreshold ?? null
  const { similarity, threshold: ofCall, thresholds } = value
  const rows: readonly ThresholdRow[] = [
    ...Object.values(thresholds).map((threshold) => ({
      name: threshold === ofCall ? 'Default of svc.verify' : 'Common threshold',
      threshold,
    })),
    ...(ofProject === null ? [] : [{ name: 'svc.identify in this project', threshold: ofProject }]),
  ]
  return (
    <DataTable
      caption="Decision by threshold"
      rows={rows.toSorted((a, b) => a.threshold - b.threshold)}
      rowKey={({ name, threshold }) => `${name} ${threshold}`}
      columns={[
        { name: 'Threshold', align: 'right', renderCell: (row) => row.threshold.toFixed(2) },
        {
          name: 'Decision',
          renderCell: ({ threshold }) => (
            <StatusTag tone={similarity >= threshold ? 'ok' : 'bad'}>
              {similarity >= threshold ? 'match' : 'no match'}
            </StatusTag>
          ),
        },
        {
          name: 'False-match rate',
          renderCell: ({ threshold }) => {
            const rate = falseMatchRateAt(settings.falseMatchRates, threshold)
            return rate ? `1 in ${formatCount(Math.round(1 / rate.rate))}` : ''
          },
        },
        { name: 'Used as', renderCell: ({ name }) => name },
      ]}
      empty={null}
    />
  )
}
