import type { TeamMember } from '../api/responses.ts'
import { useApiQuery } from '../api/use-api.ts'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { formatLoss } from '../components/confirm/losses.tsx'

type Props = {
  readonly user: TeamMember
  readonly isPending: boolean
  readonly error: unknown
  readonly onConfirm: () => void
  readonly onClose: () => void
}

/** Confirms that an account is disabled. Counts the sessions that end. */
export function DisableUserDialog({ user, isPending, error, onConfirm, onClose }: Props) {
  const sessions = useApiQuery('/users/:userId/open-sessions', {
    pathParams: { userId: user.userId },
  })
  const { data } = sessions
  return (
    <ConfirmDialog
      title={`Disable the account of ${user.name}`}
      confirmationText={user.name}
      confirmLabel="Disable account"
      isReady={data !== undefined}
      isPending={isPending}
      errorTitle="Couldn't disable the account"
      error={error ?? sessions.error}
      onConfirm={onConfirm}
      onClose={onClose}
    >
      {data === undefined ? (
        'Counting the open sessions…'
      ) : (
        <>
          {user.name} cannot sign in any more. This ends{' '}
          <strong>
            {formatLoss({ count: data.count, one: 'open session', many: 'open sessions' })}
          </strong>{' '}
          and deletes the unused invite and password links for the user and those that the user
          created. The audit log stays. An owner can enable the account again; ended sessions and
          deleted links do not return.
        </>
      )}
    </ConfirmDialog>
  )
}
