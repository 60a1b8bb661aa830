import { Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { useApiQuery } from '../../api/use-api.ts'
import { formatCount } from '../../format/numbers.ts'
import { DataTable, type Column } from '../../lists/data-table.tsx'
import {
  changedDecisions,
  thresholdMoves,
  type ScoreTable,
  type ThresholdMove,
} from './table-changes.ts'

type Props = {
  readonly projectId: string
  readonly before: ScoreTable
  readonly after: ScoreTable
}

/** What a change of the table of a gallery changes: its thresholds, and decisions of the last 30 days. */
export function TableChangeSummary({ projectId, before, after }: Props) {
  const moves = thresholdMoves(before, after)
  return (
    <Stack gap="xs">
      <DataTable
        caption="Thresholds and the scores at which faces match"
        rows={moves}
        rowKey={({ similarity }) => String(similarity)}
        columns={columns}
        empty={null}
      />
      <Text size="sm">A higher score is stricter: fewer faces match.</Text>
      <DecisionEstimate projectId={projectId} before={before} after={after} />
    </Stack>
  )
}

const columns: readonly Column<ThresholdMove>[] = [
  { name: 'Threshold', align: 'right', renderCell: ({ similarity }) => similarity.toFixed(2) },
  { name: 'Score now', align: 'right', renderCell: ({ scoreBefore }) => scoreBefore.toFixed(3) },
  { name: 'Score after', align: 'right', renderCell: ({ scoreAfter }) => scoreAfter.toFixed(3) },
  { name: 'Effect', renderCell: effectText },
]

function effectText({ scoreBefore, scoreAfter }: ThresholdMove): string {
  if (scoreAfter === scoreBefore) return 'unchanged'
  return scoreAfter > scoreBefore ? 'stricter' : 'looser'
}

const periodMs = 30 * 86_400_000
const hourMs = 3_600_000

function DecisionEstimate({ projectId, before, after }: Props) {
  const [fromUtc] = useState(() =>
    new Date(Math.floor((Date.now() - periodMs) / hourMs) * hourMs).toISOString(),
  )
  const scores = useApiQuery('/analytics/scores', {
    query: { kind: 'similarity', projectId, fromUtc },
  })
  if (!scores.data) return null
  const threshold = scores.data.threshold ?? 0.8
  const { total, changed } = changedDecisions(scores.data, { before, after }, threshold)
  if (total === 0)
    return <Text size="sm">No similarity of this project was counted in the last 30 days.</Text>
  return (
    <Text size="sm">
      About {formatCount(changed)} of the {formatCount(total)} similarities of svc.identify and
      svc.verify in this project in the last 30 days would be on the other side of the threshold{' '}
      {threshold.toFixed(2)}. The estimate uses counts in steps of 0.02 and the table in use now;
      calls with another threshold are not distinguished.
    </Text>
  )
}
