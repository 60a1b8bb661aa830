import { Button, Group, Modal, Select, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { useApiMutation } from '../api/use-api.ts'
import { OneTimeSecret } from '../components/one-time-secret.tsx'
import { ErrorNotice } from '../components/error-notice.tsx'
import { roleOptions } from './role-options.ts'

/** Makes a user and the link under which they set their password. */
export function InviteUserDialog({ onClose }: { readonly onClose: () => void }) {
  const [link, setLink] = useState<string>()
  const invite = useApiMutation<{ readonly inviteLink: string }>({
    method: 'POST',
    path: '/users',
    onSuccess: ({ inviteLink }) => setLink(inviteLink),
  })
  const form = useForm({
    initialValues: { name: '', role: 'viewer' },
    validate: { name: (name) => (name.trim() === '' ? 'The name to sign in with' : null) },
  })
  return (
    <Modal
      opened
      // The link is lost once this closes: only its own button closes it then.
      onClose={link ? () => {} : onClose}
      withCloseButton={!link}
      title={link ? 'Their link' : 'Invite'}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {link ? (
        <OneTimeSecret secret={link} label="link" onDone={onClose} />
      ) : (
        <form onSubmit={form.onSubmit((body) => invite.mutate({ body }))}>
          <Stack>
            <TextInput label="Name" required data-autofocus {...form.getInputProps('name')} />
            <Select
              label="Role"
              allowDeselect={false}
              data={roleOptions}
              {...form.getInputProps('role')}
            />
            <ErrorNotice error={invite.error} />
            <Group justify="flex-end">
              <Button type="submit" loading={invite.isPending}>
                Make the link
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </Modal>
  )
}
