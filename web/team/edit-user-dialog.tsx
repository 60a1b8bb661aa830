import { Button, Group, Modal, Select, Stack, Switch } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useState } from 'react'
import type { TeamMember } from '../api/responses.ts'
import { useApiMutation } from '../api/use-api.ts'
import { OneTimeSecret } from '../components/one-time-secret.tsx'
import { ErrorNotice } from '../components/error-notice.tsx'
import { changedValues } from '../forms/stored-values.ts'
import { useStoredValues } from '../forms/use-stored-values.ts'
import { DisableUserDialog } from './disable-user-dialog.tsx'
import { roleOptions } from './role-options.ts'
import { UserSessions } from './user-sessions.tsx'

type Props = { readonly user: TeamMember; readonly onClose: () => void }

/** Changes the role of a user, creates a link for a lost password, or disables the account. */
export function EditUserDialog({ user, onClose }: Props) {
  const [link, setLink] = useState<string>()
  return (
    <Modal
      opened
      onClose={link ? () => {} : onClose}
      withCloseButton={!link}
      title={user.name}
      size="lg"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {link ? (
        <OneTimeSecret
          secret={link}
          label="link"
          advice="Copy it and send it to the user: it sets a password, once, within 24 hours."
          onDone={onClose}
        />
      ) : (
        <EditUserForm user={user} onInviteLink={setLink} onClose={onClose} />
      )}
    </Modal>
  )
}

type UserFormValues = Pick<TeamMember, 'role' | 'disabled'>

type EditUserFormProps = Props & { readonly onInviteLink: (link: string) => void }

/** Only changed fields are sent. */
function EditUserForm({ user, onInviteLink, onClose }: EditUserFormProps) {
  const stored: UserFormValues = { role: user.role, disabled: user.disabled }
  const form = useForm({ initialValues: stored })
  useStoredValues(form, stored)
  const change = changedValues(form.getInitialValues(), form.values)
  const [isConfirming, setIsConfirming] = useState(false)
  const pathParams = { userId: user.userId }
  const save = useApiMutation({ method: 'PATCH', path: '/users/:userId', onSuccess: onClose })
  const invite = useApiMutation({
    method: 'POST',
    path: '/users/:userId/invite',
    onSuccess: ({ inviteLink }) => onInviteLink(inviteLink),
  })
  const submit = (): void => save.mutate({ pathParams, body: change })
  return (
    <Stack>
      <Select
        label="Role"
        description={
          user.role === 'owner' && form.values.role !== 'owner'
            ? 'Deletes the unused links that the user created.'
            : undefined
        }
        allowDeselect={false}
        data={roleOptions}
        {...form.getInputProps('role')}
      />
      <Switch
        label="Disable account"
        description="Ends all sessions of the user and prevents sign-in."
        {...form.getInputProps('disabled', { type: 'checkbox' })}
      />
      <UserSessions user={user} />
      <UserAccess user={user} onChanged={onClose} />
      {!isConfirming && <ErrorNotice title="Couldn't save user" error={save.error} />}
      <ErrorNotice title="Couldn't create password link" error={invite.error} />
      <Group justify="space-between">
        <Button
          variant="default"
          loading={invite.isPending}
          onClick={() => invite.mutate({ pathParams })}
        >
          Create password link
        </Button>
        <Button
          disabled={Object.keys(change).length === 0}
          loading={save.isPending}
          onClick={() => {
            if (change.disabled) setIsConfirming(true)
            else submit()
          }}
        >
          Save
        </Button>
      </Group>
      {isConfirming && (
        <DisableUserDialog
          user={user}
          isPending={save.isPending}
          error={save.error}
          onConfirm={submit}
          onClose={() => setIsConfirming(false)}
        />
      )}
    </Stack>
  )
}

type UserAccessProps = { readonly user: TeamMember; readonly onChanged: () => void }

/** Ends all sessions of a user, or removes the second factor. */
function UserAccess({ user, onChanged }: UserAccessProps) {
  const pathParams = { userId: user.userId }
  const endSessions = useApiMutation({
    method: 'POST',
    path: '/users/:userId/sign-out',
    onSuccess: () => notifications.show({ message: `All sessions of ${user.name} have ended.` }),
  })
  const removeFactor = useApiMutation({
    method: 'POST',
    path: '/users/:userId/second-factor/remove',
    onSuccess: onChanged,
  })
  return (
    <>
      <Group>
        <Button
          variant="default"
          size="xs"
          loading={endSessions.isPending}
          onClick={() => endSessions.mutate({ pathParams })}
        >
          End all sessions
        </Button>
        {user.hasSecondFactor && (
          <Button
            variant="default"
            size="xs"
            loading={removeFactor.isPending}
            onClick={() => removeFactor.mutate({ pathParams })}
          >
            Remove second factor
          </Button>
        )}
      </Group>
      <ErrorNotice title="Couldn't end sessions" error={endSessions.error} />
      <ErrorNotice title="Couldn't remove second factor" error={removeFactor.error} />
    </>
  )
}
