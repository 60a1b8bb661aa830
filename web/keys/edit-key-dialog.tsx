import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { ConsoleKey, ConsolePermission } from '../api/responses.ts'
import { useApiMutation, useApiQuery } from '../api/use-api.ts'
import { ErrorNotice } from '../components/error-notice.tsx'
import { QueryContent } from '../components/query-content.tsx'
import { expiryUtc, KeyExpiry } from './key-expiry.tsx'
import { PermissionFields } from './permission-fields.tsx'

type Props = { readonly apiKey: ConsoleKey; readonly onClose: () => void }

/** Changes the name, the permissions and the expiry of a key. */
export function EditKeyDialog({ apiKey, onClose }: Props) {
  const permissions = useApiQuery('/permissions')
  return (
    <Modal
      opened
      onClose={onClose}
      title="Edit API key"
      size="lg"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <QueryContent query={permissions}>
        {(available) => <EditKeyForm apiKey={apiKey} available={available} onClose={onClose} />}
      </QueryContent>
    </Modal>
  )
}

type EditFormProps = Props & { readonly available: readonly ConsolePermission[] }

type FormValues = {
  name: string
  permissions: string[]
  expiry: string | null
  expires: string | null
}

function EditKeyForm({ apiKey, available, onClose }: EditFormProps) {
  const { keyId, name, permissions, expiresAtUtc } = apiKey
  const edit = useApiMutation({ method: 'PATCH', path: '/keys/:keyId', onSuccess: onClose })
  const form = useForm<FormValues>({
    initialValues: { name, permissions: [...permissions], expiry: 'keep', expires: null },
    validate: {
      name: (typed) => (typed.trim() === '' ? 'Enter a name' : null),
      permissions: (selected) => (selected.length === 0 ? 'Select at least one permission' : null),
      expires: (expires, { expiry }) => (expiry === 'date' && !expires ? 'Choose a date' : null),
    },
  })
  const permissionsError = form.errors['permissions']
  return (
    <form
      onSubmit={form.onSubmit(({ expiry, expires, ...values }) =>
        edit.mutate({
          pathParams: { keyId },
          body: {
            name: values.name.trim(),
            permissions: values.permissions,
            ...(expiry !== 'keep' && { expiresAtUtc: expiryUtc(expiry, expires) }),
          },
        }),
      )}
    >
      <Stack>
        <Text size="sm">
          Changes apply to the next call, on every server. The secret of the key does not change.
        </Text>
        <TextInput label="Name" required data-autofocus {...form.getInputProps('name')} />
        <PermissionFields
          available={available}
          value={form.values.permissions}
          error={typeof permissionsError === 'string' ? permissionsError : undefined}
          onChange={(selected) => form.setFieldValue('permissions', selected)}
        />
        <KeyExpiry
          expiry={form.values.expiry}
          getInputProps={form.getInputProps}
          keepText={keepText(apiKey, expiresAtUtc)}
        />
        <ErrorNotice title="Couldn't change key" error={edit.error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={edit.isPending}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function keepText({ state }: ConsoleKey, expiresAtUtc: string | null): string {
  if (expiresAtUtc === null) return 'Unchanged: never'
  const time = `${expiresAtUtc.slice(0, 16).replace('T', ' ')} UTC`
  return state === 'expired' ? `Unchanged: expired ${time}` : `Unchanged: ${time}`
}
