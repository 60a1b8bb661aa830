import type { TeamMember } from '../api/responses.ts'
import { useApiMutation } from '../api/use-api.ts'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'

type Props = { readonly user: TeamMember; readonly onClose: () => void }

/** Revokes the open link of a user. Requires the typed name. */
export function RevokeLinkDialog({ user, onClose }: Props) {
  const revoke = useApiMutation({
    method: 'DELETE',
    path: '/users/:userId/invite',
    onSuccess: onClose,
  })
  return (
    <ConfirmDialog
      title={`Revoke the link of ${user.name}`}
      confirmationText={user.name}
      confirmLabel="Revoke link"
      isPending={revoke.isPending}
      errorTitle="Couldn't revoke the link"
      error={revoke.error}
      onConfirm={(confirm) =>
        revoke.mutate({ pathParams: { userId: user.userId }, body: { confirm } })
      }
      onClose={onClose}
    >
      The link can no longer set the password of {user.name}. Password, second factor and sessions
      of the user stay. This cannot be undone, but an owner can create a new link.
    </ConfirmDialog>
  )
}
