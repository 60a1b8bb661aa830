import { Button, Group, Modal, Select, Stack, Switch } from '@mantine/core'
import { useState } from 'react'
import type { TeamMember } from '../api/responses.ts'
import { useApiMutation } from '../api/use-api.ts'
import { OneTimeSecret } from '../components/one-time-secret.tsx'
import { ErrorNotice } from '../components/error-notice.tsx'
import { roleOptions } from './role-options.ts'

type Props = { readonly user: TeamMember; readonly onClose: () => void }

/** Another role, another link for a lost password, or out. */
export function EditUserDialog({ user, onClose }: Props) {
  const [link, setLink] = useState<string>()
  return (
    <Modal
      opened
      onClose={link ? () => {} : onClose}
      withCloseButton={!link}
      title={user.name}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {link ? (
        <OneTimeSecret secret={link} label="link" onDone={onClose} />
      ) : (
        <EditUserForm user={user} onInviteLink={setLink} onClose={onClose} />
      )}
    </Modal>
  )
}

type EditUserFormProps = Props & { readonly onInviteLink: (link: string) => void }

function EditUserForm({ user, onInviteLink: onLink, onClose }: EditUserFormProps) {
  const [role, setRole] = useState<string>(user.role)
  const [isDisabled, setIsDisabled] = useState(user.disabled)
  const parts = { userId: user.userId }
  const save = useApiMutation({ method: 'PATCH', path: '/users/:userId', onSuccess: onClose })
  const invite = useApiMutation<{ readonly inviteLink: string }>({
    method: 'POST',
    path: '/users/:userId/invite',
    onSuccess: ({ inviteLink }) => onLink(inviteLink),
  })
  return (
    <Stack>
      <Select
        label="Role"
        allowDeselect={false}
        data={roleOptions}
        value={role}
        onChange={(value) => setRole(value ?? role)}
      />
      <Switch
        label="Shut out"
        description="Ends their sessions at once; they cannot sign in until this is off again."
        checked={isDisabled}
        onChange={(event) => setIsDisabled(event.currentTarget.checked)}
      />
      <ErrorNotice error={save.error ?? invite.error} />
      <Group justify="space-between">
        <Button
          variant="default"
          loading={invite.isPending}
          onClick={() => invite.mutate({ pathParams: parts })}
        >
          New password link
        </Button>
        <Button
          loading={save.isPending}
          onClick={() => save.mutate({ pathParams: parts, body: { role, disabled: isDisabled } })}
        >
          Save
        </Button>
      </Group>
    </Stack>
  )
}
