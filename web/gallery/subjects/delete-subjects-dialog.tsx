import { Progress } from '@mantine/core'
import type { ConsoleSubject } from '../../api/responses.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { formatCount, formatQuantity } from '../../format/numbers.ts'
import { NamedFaces } from './named-faces.tsx'
import { useChunkedChange } from './use-chunked-change.ts'

type Props = {
  readonly projectId: string
  readonly subjects: readonly ConsoleSubject[]
  readonly onDeleted: (count: number) => void
  readonly onClose: () => void
}

const chunkMax = 20
/** The most subjects that the dialog names. */
const shownMax = 10

/** The text that the server requires for this many subjects of one request. */
const confirmationOf = (count: number): string =>
  `delete ${count} ${count === 1 ? 'subject' : 'subjects'}`

/** Deletes the chosen subjects after a typed confirmation that contains their number. */
export function DeleteSubjectsDialog({ projectId, subjects, onDeleted, onClose }: Props) {
  const templates = subjects.reduce((sum, { embeddingCount }) => sum + embeddingCount, 0)
  const { progress, start } = useChunkedChange({
    projectId,
    path: '/projects/:projectId/subjects/delete',
    chunkMax,
    // Subjects with many matches that can get a verdict need further requests.
    countDone: ({ records, unknownIds }) => records.length + unknownIds.length,
    bodyOf: (subjectIds) => ({ subjectIds, confirm: confirmationOf(subjectIds.length) }),
    onDone: (responses) =>
      onDeleted(responses.reduce((sum, { records }) => sum + records.length, 0)),
  })
  return (
    <ConfirmDialog
      title="Delete subjects"
      confirmationText={confirmationOf(subjects.length)}
      confirmLabel={progress.error === undefined ? 'Delete permanently' : 'Continue'}
      isPending={progress.isRunning}
      errorTitle={`Deleted: ${progress.done} of ${formatQuantity(subjects.length, 'subject')}`}
      error={progress.error}
      onConfirm={() => void start(subjects.map(({ subjectId }) => subjectId))}
      onClose={onClose}
    >
      <NamedFaces projectId={projectId} subjects={subjects.slice(0, shownMax)} mb="sm">
        {subjects.length > shownMax && `and ${formatCount(subjects.length - shownMax)} more`}
      </NamedFaces>
      This deletes <strong>{formatQuantity(subjects.length, 'subject')}</strong> with{' '}
      {formatQuantity(templates, 'template')}, their crops, names, attributes and group links, and
      removes them from stored responses. This cannot be undone. For each subject the deletion
      ledger permanently keeps: the ids of the record, the subject and the account, the external id,
      the names of the groups, the number of templates, and the time.
      {progress.isRunning && (
        <Progress
          mt="sm"
          value={(progress.done / subjects.length) * 100}
          aria-label={`${progress.done} of ${formatQuantity(subjects.length, 'subject')}`}
        />
      )}
    </ConfirmDialog>
  )
}
