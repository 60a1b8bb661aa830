import { Button, Group, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import type { ConsoleSubject, HealthReport } from '../../api/responses.ts'
import { useHasRole } from '../../api/session.ts'
import { useApiMutation } from '../../api/use-api.ts'
import { EmptyState } from '../../components/empty-state.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { UtcTime } from '../../components/utc-time.tsx'
import { formatCount } from '../../format/numbers.ts'
import { shortIdOf, subjectNameOf } from '../../format/subject-name.ts'
import { Panel } from '../../layout/panel.tsx'
import { DataTable, type Column } from '../../lists/data-table.tsx'
import { SubjectLink } from '../subjects/subject-link.tsx'
import { SubjectThumbnail, useCroppedFaces } from '../subjects/subject-thumbnail.tsx'
import { subjectsMax, useSubjects } from '../subjects/use-subjects.ts'
import { useUndoMerge } from './use-decisions.tsx'

type Props = {
  readonly projectId: string
  readonly merges: HealthReport['merges']
  readonly distinct: HealthReport['distinct']
}

type MergeRow = HealthReport['merges'][number]
type DistinctRow = HealthReport['distinct'][number]

/** The newest merges, which can be undone, and the newest pairs of different people. */
export function DecisionLists({ projectId, merges, distinct }: Props) {
  return (
    <Stack>
      <MergeList projectId={projectId} merges={merges} />
      <DistinctList projectId={projectId} distinct={distinct} />
    </Stack>
  )
}

function MergeList({ projectId, merges }: Pick<Props, 'projectId' | 'merges'>) {
  const mayWrite = useHasRole('admin')
  const shown = merges.slice(0, subjectsMax)
  const cellOf = useSubjectCells(
    projectId,
    shown.map(({ subjectId }) => subjectId),
  )
  const undoMerge = useUndoMerge(projectId)
  const undo = useMutation({ mutationFn: undoMerge })
  const undoColumn: Column<MergeRow> = {
    name: 'Actions',
    renderCell: ({ mergeId, subjectId }) => (
      <Button
        size="compact-xs"
        variant="default"
        loading={undo.isPending && undo.variables === mergeId}
        aria-label={`Undo the merge into ${cellOf(subjectId).name}`}
        onClick={() => undo.mutate(mergeId)}
      >
        Undo
      </Button>
    ),
  }
  return (
    <Panel title="Merges that can be undone">
      <ErrorNotice title="Couldn't undo the merge" error={undo.error} />
      <NewestOf shown={shown.length} total={merges.length} />
      {shown.length > 0 && (
        <Text size="xs" c="dimmed">
          The name of the merged subject is stored encrypted. The undo restores it.
        </Text>
      )}
      <DataTable
        caption="Merges that can be undone"
        rows={shown}
        rowKey={({ mergeId }) => mergeId}
        columns={[
          { name: 'Merged into', renderCell: ({ subjectId }) => cellOf(subjectId).content },
          { name: 'Merged (UTC)', renderCell: ({ mergedAtMs }) => <MsTime ms={mergedAtMs} /> },
          { name: 'Undo until', renderCell: ({ expiresAtMs }) => <MsTime ms={expiresAtMs} /> },
          ...(mayWrite ? [undoColumn] : []),
        ]}
        empty={
          <EmptyState title="No merges of the last 30 days">
            Merged subjects are listed here until the undo is no longer possible.
          </EmptyState>
        }
      />
    </Panel>
  )
}

function DistinctList({ projectId, distinct }: Pick<Props, 'projectId' | 'distinct'>) {
  const mayWrite = useHasRole('admin')
  const shown = distinct.slice(0, subjectsMax / 2)
  const cellOf = useSubjectCells(
    projectId,
    shown.flatMap(({ subjectId, otherId }) => [subjectId, otherId]),
  )
  const remove = useApiMutation({
    method: 'POST',
    path: '/projects/:projectId/subjects/:subjectId/distinct',
  })
  const removeColumn: Column<DistinctRow> = {
    name: 'Actions',
    renderCell: ({ subjectId, otherId }) => (
      <Button
        size="compact-xs"
        variant="default"
        aria-label={`Remove: ${cellOf(subjectId).name} and ${cellOf(otherId).name}`}
        onClick={() =>
          remove.mutate({
            pathParams: { projectId, subjectId },
            body: { otherSubjectId: otherId, distinct: false },
          })
        }
      >
        Remove
      </Button>
    ),
  }
  return (
    <Panel title="Confirmed as different people">
      <ErrorNotice title="Couldn't remove the decision" error={remove.error} />
      <NewestOf shown={shown.length} total={distinct.length} />
      <DataTable
        caption="Confirmed as different people"
        rows={shown}
        rowKey={({ subjectId, otherId }) => `${subjectId} ${otherId}`}
        columns={[
          { name: 'Person', renderCell: ({ subjectId }) => cellOf(subjectId).content },
          { name: 'Other person', renderCell: ({ otherId }) => cellOf(otherId).content },
          {
            name: 'Decided (UTC)',
            renderCell: ({ decidedAtUtc }) => <UtcTime timestampUtc={decidedAtUtc} />,
          },
          { name: 'By', renderCell: ({ decidedBy }) => decidedBy },
          ...(mayWrite ? [removeColumn] : []),
        ]}
        empty={
          <EmptyState title="No decisions">
            Pairs that were marked with Not the same are listed here. A check lists them as
            look-alikes, not as duplicates.
          </EmptyState>
        }
      />
    </Panel>
  )
}

function NewestOf({ shown, total }: { readonly shown: number; readonly total: number }) {
  if (shown >= total) return null
  return (
    <Text size="sm">
      The newest {formatCount(shown)} of {formatCount(total)}.
    </Text>
  )
}

function MsTime({ ms }: { readonly ms: number }) {
  return <UtcTime timestampUtc={new Date(ms).toISOString()} />
}

/** Returns the name of each subject, and the cell with its face and its link. */
function useSubjectCells(projectId: string, subjectIds: readonly string[]) {
  const { data } = useSubjects(projectId, subjectIds)
  const crops = useCroppedFaces(projectId, [...new Set(subjectIds)])
  const byId = new Map<string, ConsoleSubject>(data?.items.map((item) => [item.subjectId, item]))
  return (subjectId: string) => {
    const subject = byId.get(subjectId)
    const faceId = crops.get(subjectId)?.[0]
    return {
      name: subject ? subjectNameOf(subject) : shortIdOf(subjectId),
      content: (
        <Group gap="xs" wrap="nowrap">
          <SubjectThumbnail
            projectId={projectId}
            subjectId={subjectId}
            faceId={faceId}
            sizePx={36}
          />
          <SubjectLink subject={subject ?? { subjectId }} />
        </Group>
      ),
    }
  }
}
