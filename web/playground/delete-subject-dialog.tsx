import { ApiError } from '../api/api-error.ts'
import type { ConsoleSubject } from '../api/responses.ts'
import { useApiQuery } from '../api/use-api.ts'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { formatLoss } from '../components/confirm/losses.tsx'
import { SubjectDeletionFacts } from '../components/confirm/subject-deletion-facts.tsx'
import { DefinitionList } from '../components/definition-list.tsx'
import { UtcTime } from '../components/utc-time.tsx'
import { DataTable, type Column } from '../lists/data-table.tsx'

type Props = {
  readonly projectId: string
  /** The parameter of the call; it need not be a text. */
  readonly subjectId: unknown
  readonly isPending: boolean
  readonly error: unknown
  readonly onConfirm: () => void
  readonly onClose: () => void
}

/** Shows the subject that the call deletes, and requires its typed name before the call. */
export function DeleteSubjectDialog(props: Props) {
  const { subject, isFound, error } = useSubject(props)
  return (
    <ConfirmDialog
      title="Delete subject"
      confirmationText={subject ? typedTextOf(subject) : 'no subject'}
      confirmLabel="Delete permanently"
      isReady={subject !== undefined}
      isPending={props.isPending}
      errorTitle="Couldn't delete subject"
      error={props.error ?? error}
      onConfirm={props.onConfirm}
      onClose={props.onClose}
    >
      {subject && <SubjectToDelete subject={subject} />}
      {!subject && isFound && 'Loading the subject…'}
      {!isFound && 'The gallery has no subject with this id. Correct the parameters of the call.'}
    </ConfirmDialog>
  )
}

/** The name is typed where there is one that a keyboard can type, otherwise the start of the id. */
function typedTextOf({ displayName, externalId, subjectId }: ConsoleSubject): string {
  const name = displayName ?? externalId
  return name !== null && /^[\w .'-]{1,40}$/u.test(name) ? name : subjectId.slice(0, 8)
}

const faceColumns: readonly Column<NonNullable<ConsoleSubject['faces']>[number]>[] = [
  { name: 'Face id', isMonospace: true, renderCell: ({ faceId }) => faceId.slice(0, 8) },
  { name: 'Quality', align: 'right', renderCell: ({ qualityScore }) => qualityScore },
  { name: 'Added', renderCell: ({ createdAtUtc }) => <UtcTime timestampUtc={createdAtUtc} /> },
]

function SubjectToDelete({ subject }: { readonly subject: ConsoleSubject }) {
  const { subjectId, displayName, externalId, groups, embeddingCount } = subject
  return (
    <>
      <DefinitionList
        items={{
          Name: displayName ?? '–',
          'External id': externalId ?? '–',
          'Subject id': <span className="fg-mono">{subjectId}</span>,
          Groups: groups.join(', ') || '–',
          'Enrolled (UTC)': <UtcTime timestampUtc={subject.createdAtUtc} />,
          Faces: formatLoss({ count: embeddingCount, one: 'template', many: 'templates' }),
        }}
      />
      <DataTable
        caption="Faces of the subject"
        rows={subject.faces ?? []}
        rowKey={({ faceId }) => faceId}
        columns={faceColumns}
        empty={null}
      />
      <SubjectDeletionFacts />
    </>
  )
}

/** Finds the subject of the call, with its faces. */
function useSubject({ projectId, subjectId }: Pick<Props, 'projectId' | 'subjectId'>) {
  const isId = typeof subjectId === 'string'
  const query = useApiQuery('/projects/:projectId/subjects/:subjectId', {
    pathParams: { projectId, subjectId: isId ? subjectId : '' },
    enabled: isId,
  })
  const isFound = isId && !isMissing(query.error)
  return {
    subject: query.isPlaceholderData || !isFound ? undefined : query.data,
    isFound,
    error: isFound ? query.error : undefined,
  }
}

function isMissing(error: Error | null): boolean {
  return error instanceof ApiError && error.status === 404
}
