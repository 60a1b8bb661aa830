import { notifications } from '@mantine/notifications'
import { ApiError } from '../../api/api-error.ts'
import { useApiQuery, useApiMutation } from '../../api/use-api.ts'
import { SubjectDeletionFacts } from '../../components/confirm/subject-deletion-facts.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { formatQuantity } from '../../format/numbers.ts'
import { NamedFaces } from '../subjects/named-faces.tsx'

type Props = { readonly projectId: string; readonly name: string; readonly onClose: () => void }

/** Deletes all subjects of a group. Shows their number first and requires the typed group name. */
export function DeleteGroupDialog({ projectId, name, onClose }: Props) {
  const pathParams = { projectId, name }
  const preview = useApiQuery('/projects/:projectId/groups/:name', { pathParams })
  const remove = useApiMutation({
    method: 'DELETE',
    path: '/projects/:projectId/groups/:name',
    removedPath: '/projects/:projectId/groups/:name',
    onSuccess: ({ deletedCount }) => {
      notifications.show({ message: `${formatQuantity(deletedCount, 'subject')} deleted` })
      onClose()
    },
    onError: (error) => {
      // The group has more subjects than counted.
      if (error instanceof ApiError && error.status === 409) void preview.refetch()
    },
  })
  const countText = formatQuantity(preview.data?.count ?? 0, 'subject')
  return (
    <ConfirmDialog
      title={`Delete all subjects in group ${name}`}
      confirmationText={name}
      confirmLabel={preview.data ? `Delete ${countText}` : 'Delete subjects'}
      isPending={remove.isPending}
      errorTitle="Couldn't delete subjects"
      error={remove.error ?? preview.error}
      onConfirm={(confirm) =>
        remove.mutate({ pathParams, body: { confirm, confirmedCount: preview.data?.count } })
      }
      isReady={preview.data !== undefined && !preview.isFetching}
      onClose={onClose}
    >
      {preview.data ? (
        <>
          This deletes <strong>{countText}</strong> with all their data, including subjects that are
          also in other groups.
          <GroupPeople projectId={projectId} name={name} />
          <SubjectDeletionFacts isMany />
        </>
      ) : (
        'Counting subjects…'
      )}
    </ConfirmDialog>
  )
}

/** The most subjects that the dialog shows. */
const shownMax = 10

/** The first subjects of the group, with their faces. */
function GroupPeople({ projectId, name }: Pick<Props, 'projectId' | 'name'>) {
  const query = useApiQuery('/projects/:projectId/subjects', {
    pathParams: { projectId },
    query: { group: name, limit: shownMax },
  })
  return (
    <NamedFaces projectId={projectId} subjects={query.data?.items ?? []} my="sm">
      {query.data?.nextCursor !== null && query.data && 'and others'}
    </NamedFaces>
  )
}
