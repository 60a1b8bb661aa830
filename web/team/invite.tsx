import { Button, Group, Modal, Select, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { useSend } from '../api/use-api.ts'
import { ShownOnce } from '../keys/shown-once.tsx'
import { ErrorNotice } from '../parts/error-notice.tsx'
import { roleChoices } from './roles.ts'

/** Makes a user and the link under which they set their password. */
export function Invite({ onClose }: { readonly onClose: () => void }) {
  const [link, setLink] = useState<string>()
  const invite = useSend<{ readonly inviteLink: string }>({
    method: 'POST',
    path: '/users',
    onDone: ({ inviteLink }) => setLink(inviteLink),
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
        <ShownOnce secret={link} what="link" onDone={onClose} />
      ) : (
        <form onSubmit={form.onSubmit((body) => invite.mutate({ body }))}>
          <Stack>
            <TextInput label="Name" required data-autofocus {...form.getInputProps('name')} />
            <Select
              label="Role"
              allowDeselect={false}
              data={roleChoices}
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
