import { notifications } from '@mantine/notifications'
import { useAnswer, useSend } from '../api/use-api.ts'
import { Confirm } from '../parts/confirm.tsx'
import { countOf } from '../parts/numbers.ts'

type Parts = { readonly projectId: string; readonly name: string; readonly onClose: () => void }

/** Deletes everybody of a group, after a count of what that means and its name typed. */
export function DeleteGroup({ projectId, name, onClose }: Parts) {
  const parts = { projectId, name }
  const dryRun = useAnswer('/projects/:projectId/groups/:name', { parts })
  const remove = useSend<{ readonly deletedCount: number }>({
    method: 'DELETE',
    path: '/projects/:projectId/groups/:name',
    ends: '/projects/:projectId/groups/:name',
    onDone: ({ deletedCount }) => {
      notifications.show({ message: `${countOf(deletedCount)} subjects were deleted.` })
      onClose()
    },
  })
  return (
    <Confirm
      title="Delete the subjects of this group"
      word={name}
      verb={`Delete ${countOf(dryRun.data?.count ?? null)} subjects`}
      isRunning={remove.isPending}
      error={remove.error ?? dryRun.error}
      onConfirm={(confirm) => remove.mutate({ parts, body: { confirm } })}
      onClose={onClose}
    >
      {dryRun.data ? (
        <>
          <strong>{countOf(dryRun.data.count)} subjects</strong> belong to it now. They are deleted
          whole, also where they belong to other groups. It cannot be undone.
        </>
      ) : (
        'Counting …'
      )}
    </Confirm>
  )
}
