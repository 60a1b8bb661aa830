import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { ConsoleKey, ConsolePermission } from '../api/responses.ts'
import { useApiMutation, useApiQuery } from '../api/use-api.ts'
import { ErrorNotice } from '../components/error-notice.tsx'
import { QueryContent } from '../components/query-content.tsx'
import { changedValues, listChangeOf } from '../forms/stored-values.ts'
import { useStoredValues } from '../forms/use-stored-values.ts'
import { expiryUtc, KeyExpiry } from './key-expiry.tsx'
import { PermissionFields } from './permission-fields.tsx'

type Props = { readonly apiKey: ConsoleKey; readonly onClose: () => void }

/** Changes the name, the permissions and the expiry of a key. Only changed fields are sent. */
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
  const stored = { name, permissions: [...permissions], expiry: 'keep', expires: null }
  const form = useForm<FormValues>({
    initialValues: stored,
    validate: {
      name: (typed) => (typed.trim() === '' ? 'Enter a name' : null),
      permissions: (selected) => (selected.length === 0 ? 'Select at least one permission' : null),
      expires: (expires, { expiry }) => (expiry === 'date' && !expires ? 'Choose a date' : null),
    },
  })
  useStoredValues(form, stored)
  const change = changeOf(form.getInitialValues(), form.values)
  const permissionsError = form.errors['permissions']
  return (
    <form onSubmit={form.onSubmit(() => edit.mutate({ pathParams: { keyId }, body: change }))}>
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
          <Button
            type="submit"
            disabled={Object.keys(change).length === 0}
            loading={edit.isPending}
          >
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

/** Returns the body of the request. Changed permissions are sent one by one: others stay. */
function changeOf(opened: FormValues, values: FormValues) {
  const { name, permissions } = changedValues(opened, values)
  const { expiry, expires } = values
  const { added, removed } = listChangeOf(opened.permissions, values.permissions)
  return {
    ...(name !== undefined && { name: name.trim() }),
    ...(permissions && { addPermissions: added, removePermissions: removed }),
    ...(expiry !== 'keep' && { expiresAtUtc: expiryUtc(expiry, expires) }),
  }
}

function keepText({ state }: ConsoleKey, expiresAtUtc: string | null): string {
  if (expiresAtUtc === null) return 'Unchanged: never'
  const time = `${expiresAtUtc.slice(0, 16).replace('T', ' ')} UTC`
  return state === 'expired' ? `Unchanged: expired ${time}` : `Unchanged: ${time}`
}
