import { Button, Group, List, Modal, Progress, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import type { ConsoleSubject, SubjectGroupChanges } from '../../api/responses.ts'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { subjectNameOf } from '../../format/subject-name.ts'
import { formatCount, formatQuantity } from '../../format/numbers.ts'
import { GroupPicker, groupProblem } from './group-picker.tsx'
import { useChunkedChange } from './use-chunked-change.ts'

type Props = {
  readonly projectId: string
  readonly subjects: readonly ConsoleSubject[]
  readonly onClose: () => void
}

type ChangeItem = SubjectGroupChanges['items'][number]

const chunkMax = 25

/** Adds subjects to groups and removes them from groups. */
export function ChangeGroupsDialog({ projectId, subjects, onClose }: Props) {
  const [addGroups, setAddGroups] = useState<string[]>([])
  const [removeGroups, setRemoveGroups] = useState<string[]>([])
  const [items, setItems] = useState<readonly ChangeItem[]>()
  const { progress, start } = useChunkedChange({
    projectId,
    path: '/projects/:projectId/subjects/groups',
    chunkMax,
    bodyOf: (subjectIds) => ({ subjectIds, addGroups, removeGroups }),
    onDone: (responses) => setItems(responses.flatMap((response) => response.items)),
  })
  const problem = problemOf(addGroups, removeGroups)
  return (
    <Modal
      opened
      onClose={onClose}
      title={`Change the groups of ${formatQuantity(subjects.length, 'subject')}`}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack>
        {items ? (
          <ChangeReport items={items} subjects={subjects} />
        ) : (
          <>
            <GroupPicker
              projectId={projectId}
              label="Add to groups"
              value={addGroups}
              onChange={setAddGroups}
              description="A group that does not exist is created."
            />
            <GroupPicker
              projectId={projectId}
              label="Remove from groups"
              value={removeGroups}
              onChange={setRemoveGroups}
              mayCreate={false}
            />
            {problem !== undefined && <Text size="sm">{problem}</Text>}
            {progress.isRunning && (
              <Progress
                value={(progress.done / subjects.length) * 100}
                aria-label={`${progress.done} of ${formatQuantity(subjects.length, 'subject')}`}
              />
            )}
            <ErrorNotice title="Couldn't change all groups" error={progress.error} />
          </>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {items ? 'Done' : 'Cancel'}
          </Button>
          {!items && (
            <Button
              disabled={problem !== undefined}
              loading={progress.isRunning}
              onClick={() => void start(subjects.map(({ subjectId }) => subjectId))}
            >
              {progress.error === undefined ? 'Change groups' : 'Continue'}
            </Button>
          )}
        </Group>
      </Stack>
    </Modal>
  )
}

/** Returns what prevents the change. */
function problemOf(added: readonly string[], removed: readonly string[]): string | undefined {
  if (added.length + removed.length === 0) return 'Choose a group to add or to remove.'
  const both = added.find((name) => removed.includes(name))
  if (both !== undefined) return `${both} cannot be added and removed together.`
  return groupProblem(added)
}

type ChangeReportProps = Pick<Props, 'subjects'> & { readonly items: readonly ChangeItem[] }

function ChangeReport({ items, subjects }: ChangeReportProps) {
  const names = new Map(subjects.map((subject) => [subject.subjectId, subjectNameOf(subject)]))
  const failed = items.filter(({ result }) => result !== 'changed')
  return (
    <output>
      <Text size="sm">
        {formatCount(items.length - failed.length)} of {formatQuantity(items.length, 'subject')}{' '}
        changed.
      </Text>
      {failed.length > 0 && (
        <List size="sm" aria-label="Subjects that were not changed">
          {failed.map(({ subjectId, result, message }) => (
            <List.Item key={subjectId}>
              {names.get(subjectId)}: {result === 'unknown' ? 'was deleted meanwhile' : message}
            </List.Item>
          ))}
        </List>
      )}
    </output>
  )
}
