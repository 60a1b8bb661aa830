import { notifications } from '@mantine/notifications'
import { useApiQuery, useApiMutation } from '../api/use-api.ts'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { formatCount } from '../format/numbers.ts'

type Props = { readonly projectId: string; readonly name: string; readonly onClose: () => void }

/** Deletes all subjects of a group. Shows their number first and requires the typed group name. */
export function DeleteGroupDialog({ projectId, name, onClose }: Props) {
  const pathParams = { projectId, name }
  const preview = useApiQuery('/projects/:projectId/groups/:name', { pathParams })
  const remove = useApiMutation<{ readonly deletedCount: number }>({
    method: 'DELETE',
    path: '/projects/:projectId/groups/:name',
    removedPath: '/projects/:projectId/groups/:name',
    onSuccess: ({ deletedCount }) => {
      notifications.show({ message: `${formatCount(deletedCount)} subjects deleted` })
      onClose()
    },
  })
  return (
    <ConfirmDialog
      title="Delete all subjects in group"
      confirmationText={name}
      confirmLabel={`Delete ${formatCount(preview.data?.count ?? null)} subjects`}
      isPending={remove.isPending}
      errorTitle="Couldn't delete subjects"
      error={remove.error ?? preview.error}
      onConfirm={(confirm) => remove.mutate({ pathParams, body: { confirm } })}
      onClose={onClose}
    >
      {preview.data ? (
        <>
          This deletes <strong>{formatCount(preview.data.count)} subjects</strong> with all their
          data, including subjects that are also in other groups. This cannot be undone.
        </>
      ) : (
        'Counting subjects…'
      )}
    </ConfirmDialog>
  )
}
