import { Button, Group, Modal, Select, Stack, Switch } from '@mantine/core'
import { useState } from 'react'
import type { User } from '../api/answers.ts'
import { useSend } from '../api/use-api.ts'
import { ShownOnce } from '../keys/shown-once.tsx'
import { ErrorNotice } from '../parts/error-notice.tsx'
import { roleChoices } from './roles.ts'

type Parts = { readonly user: User; readonly onClose: () => void }

/** Another role, another link for a lost password, or out. */
export function ChangeUser({ user, onClose }: Parts) {
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
        <ShownOnce secret={link} what="link" onDone={onClose} />
      ) : (
        <ChangeForm user={user} onLink={setLink} onClose={onClose} />
      )}
    </Modal>
  )
}

type FormParts = Parts & { readonly onLink: (link: string) => void }

function ChangeForm({ user, onLink, onClose }: FormParts) {
  const [role, setRole] = useState<string>(user.role)
  const [isDisabled, setIsDisabled] = useState(user.disabled)
  const parts = { userId: user.userId }
  const save = useSend({ method: 'PATCH', path: '/users/:userId', onDone: onClose })
  const invite = useSend<{ readonly inviteLink: string }>({
    method: 'POST',
    path: '/users/:userId/invite',
    onDone: ({ inviteLink }) => onLink(inviteLink),
  })
  return (
    <Stack>
      <Select
        label="Role"
        allowDeselect={false}
        data={roleChoices}
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
          onClick={() => invite.mutate({ parts })}
        >
          New password link
        </Button>
        <Button
          loading={save.isPending}
          onClick={() => save.mutate({ parts, body: { role, disabled: isDisabled } })}
        >
          Save
        </Button>
      </Group>
    </Stack>
  )
}
