import { Button, Group, Progress, Stack, Text } from '@mantine/core'
import { useMemo } from 'react'
import { useHasRole } from '../../api/session.ts'
import { useApi, useApiQuery } from '../../api/use-api.ts'
import { formatCount } from '../../format/numbers.ts'
import { CallPrice } from '../../money/call-price.tsx'
import { ImportResults } from './import-results.tsx'
import { replaceResults, type RowResult } from './import-result.ts'
import type { PlannedRow, ImportPlan } from './plan-import.ts'
import { ProblemNotice } from './problem-notice.tsx'
import { sendEnrollment, sendUpdates } from './send-rows.ts'
import { chunkRows } from './to-values.ts'
import { useImportRun } from './use-import-run.ts'

type Props = { readonly projectId: string; readonly plan: ImportPlan<File> }

const rowsText = (count: number): string => `${formatCount(count)} ${count === 1 ? 'row' : 'rows'}`

/** What an import will send, its progress and its results. */
export function ImportPlanPanel({ projectId, plan }: Props) {
  const api = useApi()
  const mayWrite = useHasRole('admin')
  const actions = useApiQuery('/actions')
  const settings = useApiQuery('/playground/settings')
  const { kind, entries, refused, unusedPictures } = plan
  const batches = useMemo(() => batchesOf(plan), [plan])
  const sendWith =
    (duplicateCheck: 'reject' | 'report') =>
    async (batch: readonly PlannedRow<File>[], signal: AbortSignal) => {
      if (kind === 'update') return sendUpdates({ api, projectId }, batch)
      if (!settings.data) return []
      const target = { api, projectId, limits: settings.data, signal, duplicateCheck }
      return Promise.all(batch.map((entry) => sendEnrollment(target, entry)))
    }
  const run = useImportRun(batches, sendWith('reject'))
  const duplicates = useMemo(() => duplicatesOf(batches, run.results), [batches, run.results])
  const duplicatesRun = useImportRun(duplicates, sendWith('report'))
  const results = [...refused, ...replaceResults(run.results, duplicatesRun.results)]
  const isRunning = run.state === 'running' || duplicatesRun.state === 'running'
  const canStart = mayWrite && entries.length > 0 && settings.data !== undefined
  return (
    <Stack gap="sm">
      <Text size="sm" component="div">
        {kind === 'enroll'
          ? `${rowsText(entries.length)} with a picture will be enrolled. `
          : `${rowsText(entries.length)} will update existing subjects, without a charge. `}
        {refused.length > 0 && `${rowsText(refused.length)} cannot be sent. `}
        {unusedPictures.length > 0 &&
          `${formatCount(unusedPictures.length)} chosen pictures are named by no row: ${unusedPictures.slice(0, 3).join(', ')}${unusedPictures.length > 3 ? ', …' : ''}. `}
        {kind === 'enroll' && entries.length > 0 && (
          <CallPrice action="svc.enroll" actions={actions.data ?? []} count={entries.length} />
        )}
      </Text>
      {run.state !== 'ready' && (
        <>
          <Progress
            value={(run.results.length / Math.max(1, entries.length)) * 100}
            aria-label="Progress of the import"
          />
          <Text size="sm" component="output" display="block">
            {formatCount(run.results.length)} of {rowsText(entries.length)} processed
            {run.state === 'stopped' && ', stopped'}
            {run.state === 'done' && ', finished'}
          </Text>
        </>
      )}
      <ProblemNotice title="The import stopped" problem={run.problem ?? duplicatesRun.problem} />
      <Group gap="xs">
        {(run.state === 'ready' || run.state === 'stopped') && (
          <Button disabled={!canStart} onClick={() => void run.start()}>
            {run.state === 'stopped' ? 'Continue' : startLabelOf(plan)}
          </Button>
        )}
        {isRunning && (
          <Button
            variant="default"
            onClick={run.state === 'running' ? run.stop : duplicatesRun.stop}
          >
            Stop
          </Button>
        )}
        {run.state === 'done' && duplicates.length > 0 && duplicatesRun.state !== 'done' && (
          <Button
            variant="default"
            disabled={!mayWrite || isRunning}
            onClick={() => void duplicatesRun.start()}
          >
            Enroll {rowsText(duplicates.length)} in spite of similar subjects
          </Button>
        )}
      </Group>
      {results.length > 0 && <ImportResults results={results} isRunning={isRunning} />}
    </Stack>
  )
}

function startLabelOf({ kind, entries }: ImportPlan<File>): string {
  return `${kind === 'enroll' ? 'Enroll' : 'Import'} ${rowsText(entries.length)}`
}

/** Returns the rows whose face is similar to an enrolled subject. */
function duplicatesOf(
  batches: readonly PlannedRow<File>[][],
  results: readonly RowResult[],
): readonly PlannedRow<File>[][] {
  const lines = new Set(
    results.filter(({ result }) => result === 'duplicate').map(({ line }) => line),
  )
  return batches.filter(([row]) => row !== undefined && lines.has(row.line))
}

/** Updates are sent together, pictures one by one. */
function batchesOf({ kind, entries }: ImportPlan<File>): readonly PlannedRow<File>[][] {
  return kind === 'enroll' ? entries.map((entry) => [entry]) : chunkRows(entries)
}
