import { notifications } from '@mantine/notifications'
import { useApiQuery, useApiMutation } from '../api/use-api.ts'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { formatCount } from '../format/numbers.ts'

type Props = { readonly projectId: string; readonly name: string; readonly onClose: () => void }

/** Deletes everybody of a group, after a count of what that means and its name typed. */
export function DeleteGroupDialog({ projectId, name, onClose }: Props) {
  const parts = { projectId, name }
  const dryRun = useApiQuery('/projects/:projectId/groups/:name', { pathParams: parts })
  const remove = useApiMutation<{ readonly deletedCount: number }>({
    method: 'DELETE',
    path: '/projects/:projectId/groups/:name',
    removedPath: '/projects/:projectId/groups/:name',
    onSuccess: ({ deletedCount }) => {
      notifications.show({ message: `${formatCount(deletedCount)} subjects were deleted.` })
      onClose()
    },
  })
  return (
    <ConfirmDialog
      title="Delete the subjects of this group"
      confirmationText={name}
      confirmLabel={`Delete ${formatCount(dryRun.data?.count ?? null)} subjects`}
      isPending={remove.isPending}
      error={remove.error ?? dryRun.error}
      onConfirm={(confirm) => remove.mutate({ pathParams: parts, body: { confirm } })}
      onClose={onClose}
    >
      {dryRun.data ? (
        <>
          <strong>{formatCount(dryRun.data.count)} subjects</strong> belong to it now. They are
          deleted whole, also where they belong to other groups. It cannot be undone.
        </>
      ) : (
        'Counting …'
      )}
    </ConfirmDialog>
  )
}
