import { Button, Group, Modal, Select, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { errorWithoutFields, showFieldErrors } from '../api/field-errors.ts'
import { useApiMutation } from '../api/use-api.ts'
import { OneTimeSecret } from '../components/one-time-secret.tsx'
import { ErrorNotice } from '../components/error-notice.tsx'
import { roleOptions } from './role-options.ts'

const fieldNames = { name: 'name' }

/** Creates a user and a link with which the user sets a password. */
export function InviteUserDialog({ onClose }: { readonly onClose: () => void }) {
  const [link, setLink] = useState<string>()
  const invite = useApiMutation({
    method: 'POST',
    path: '/users',
    onSuccess: ({ inviteLink }) => setLink(inviteLink),
    onError: (error) => showFieldErrors(form, error, fieldNames),
  })
  const form = useForm({
    initialValues: { name: '', role: 'viewer' },
    validate: { name: (name) => (name.trim() === '' ? 'Enter a name' : null) },
  })
  return (
    <Modal
      opened
      // The link cannot be shown again, so only the Done button closes the dialog.
      onClose={link ? () => {} : onClose}
      withCloseButton={!link}
      title={link ? 'Invite link' : 'Invite user'}
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
        <form onSubmit={form.onSubmit((body) => invite.mutate({ body }))}>
          <Stack>
            <TextInput label="Name" required data-autofocus {...form.getInputProps('name')} />
            <Select
              label="Role"
              allowDeselect={false}
              data={roleOptions}
              {...form.getInputProps('role')}
            />
            <ErrorNotice
              title="Couldn't invite user"
              error={errorWithoutFields(invite.error, fieldNames)}
            />
            <Group justify="flex-end">
              <Button type="submit" loading={invite.isPending}>
                Create invite link
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </Modal>
  )
}
