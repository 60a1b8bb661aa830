import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import type { ConsoleSubject } from '../../api/responses.ts'
import { useApiMutation, useApiQuery } from '../../api/use-api.ts'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { CallCost } from '../../money/call-cost.tsx'
import { CallPrice } from '../../money/call-price.tsx'
import { QueryContent } from '../../components/query-content.tsx'
import { showUndo } from '../../components/confirm/undo-notification.tsx'
import { MergeDialog } from './merge-dialog.tsx'
import { SearchResult } from './search-result.tsx'
import { describeMerge, useUndoMerge } from './use-decisions.tsx'

type Props = {
  readonly projectId: string
  readonly subject: ConsoleSubject
  readonly onOpen: (subjectId: string) => void
}

const actionName = 'svc.identify'
const candidatesMax = 10

/** Searches the gallery with the stored faces of a subject, and merges duplicates. */
export function SimilarSubjects({ projectId, subject, onOpen }: Props) {
  const { subjectId } = subject
  const actions = useApiQuery('/actions')
  const settings = useApiQuery('/playground/settings')
  const [toMerge, setToMerge] = useState<string>()
  const search = useApiMutation({ method: 'POST', path: '/playground' })
  const params = { subjectId, maxCandidates: candidatesMax }
  return (
    <Stack gap="sm" component="section" aria-label="Duplicates">
      <Title order={3}>Duplicates</Title>
      <Group justify="space-between">
        <Text size="xs" c="dimmed" component="div" maw={380}>
          Searches the gallery with the faces of this subject.{' '}
          <CallPrice action={actionName} actions={actions.data ?? []} count={1} />
        </Text>
        <Button
          size="xs"
          variant="default"
          loading={search.isPending}
          onClick={() =>
            search.mutate({ body: { projectId, call: { action: actionName, params } } })
          }
        >
          Find similar subjects
        </Button>
      </Group>
      <ErrorNotice title="Couldn't search" error={search.error} />
      {search.data && settings.data && (
        <SearchResult
          projectId={projectId}
          response={search.data}
          settings={settings.data}
          onOpen={onOpen}
          candidatesOf={({ candidates = [] }) => candidates}
          onMerge={setToMerge}
        >
          {({ candidates = [], threshold }) => (
            <Text size="sm">
              {candidates.length === 0
                ? `No other subject reaches the threshold ${threshold.toFixed(2)}.`
                : `${candidates.length} similar ${candidates.length === 1 ? 'subject' : 'subjects'}. Siblings can be similar too: compare before you merge.`}{' '}
              Cost: <CallCost call={search.data} />
            </Text>
          )}
        </SearchResult>
      )}
      {toMerge !== undefined && (
        <MergeWithOther
          projectId={projectId}
          subject={subject}
          otherId={toMerge}
          onMerged={(keptId) => {
            setToMerge(undefined)
            search.reset()
            onOpen(keptId)
          }}
          onClose={() => setToMerge(undefined)}
        />
      )}
    </Stack>
  )
}

type MergeWithOtherProps = {
  readonly projectId: string
  readonly subject: ConsoleSubject
  readonly otherId: string
  /** Receives the id of the subject that is kept. */
  readonly onMerged: (keptId: string) => void
  readonly onClose: () => void
}

function MergeWithOther({ projectId, subject, otherId, ...props }: MergeWithOtherProps) {
  const undoMerge = useUndoMerge(projectId)
  const other = useApiQuery('/projects/:projectId/subjects/:subjectId', {
    pathParams: { projectId, subjectId: otherId },
  })
  return (
    <QueryContent query={other}>
      {(found) => (
        <MergeDialog
          projectId={projectId}
          pair={[subject, found]}
          shownId={subject.subjectId}
          onMerged={({ mergeId, kept, ended }) => {
            showUndo({ ...describeMerge(kept, ended), undo: () => undoMerge(mergeId) })
            props.onMerged(kept.subjectId)
          }}
          onClose={props.onClose}
        />
      )}
    </QueryContent>
  )
}
