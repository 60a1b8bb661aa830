import { Button, Checkbox, Group, Modal, Select, Stack, TextInput } from '@mantine/core'
import { DateTimePicker } from '@mantine/dates'
import '@mantine/dates/styles.css'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import type { ConsolePermission } from '../api/responses.ts'
import { useApiQuery, useApiMutation } from '../api/use-api.ts'
import { QueryContent } from '../components/query-content.tsx'
import { ErrorNotice } from '../components/error-notice.tsx'
import { utcFromPicker } from '../format/picker-utc.ts'
import { OneTimeSecret } from '../components/one-time-secret.tsx'

type Props = { readonly projectId: string | undefined; readonly onClose: () => void }

/** Makes a key and shows it, once. */
export function CreateKeyDialog({ projectId, onClose }: Props) {
  const [key, setKey] = useState<string>()
  const permissions = useApiQuery('/permissions')
  return (
    <Modal
      opened
      // The key is lost once this closes: only its own button closes it then.
      onClose={key ? () => {} : onClose}
      withCloseButton={!key}
      title={key ? 'Your new key' : 'New key'}
      size="lg"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {key ? (
        <OneTimeSecret secret={key} label="key" onDone={onClose} />
      ) : (
        <QueryContent query={permissions}>
          {(known) => (
            <CreateKeyForm permissions={known} projectId={projectId} onCreated={setKey} />
          )}
        </QueryContent>
      )}
    </Modal>
  )
}

type CreateKeyFormProps = {
  readonly permissions: readonly ConsolePermission[]
  readonly projectId: string | undefined
  readonly onCreated: (key: string) => void
}

function CreateKeyForm({ permissions: known, projectId, onCreated: onKey }: CreateKeyFormProps) {
  const projects = useApiQuery('/projects')
  const mint = useApiMutation<{ readonly key: string }>({
    method: 'POST',
    path: '/keys',
    onSuccess: ({ key }) => onKey(key),
  })
  // A program that recognizes needs the actions; whatever else it shall do is to be decided.
  const actions = known
    .map(({ permission }) => permission)
    .filter((permission) => permission.startsWith('svc.'))
  const items = projects.data?.items ?? []
  const form = useForm<{
    projectId: string
    name: string
    permissions: string[]
    expires: string | null
  }>({
    initialValues: { projectId: projectId ?? '', name: '', permissions: actions, expires: null },
    validate: {
      name: (name) => (name.trim() === '' ? 'A name tells keys apart' : null),
      permissions: (chosen) => (chosen.length === 0 ? 'Choose at least one' : null),
    },
  })
  const chosenProject = form.values.projectId || items[0]?.projectId || ''
  return (
    <form
      onSubmit={form.onSubmit(({ name, permissions, expires }) =>
        mint.mutate({
          body: {
            projectId: chosenProject,
            name: name.trim(),
            permissions,
            ...(expires ? { expiresAtUtc: utcFromPicker(expires) } : {}),
          },
        }),
      )}
    >
      <Stack>
        <TextInput
          label="Name"
          description="Which program uses it."
          required
          data-autofocus
          {...form.getInputProps('name')}
        />
        <Select
          label="Project"
          description="Decides the gallery, the budget and the rate limit of its calls."
          required
          allowDeselect={false}
          data={items.map(({ projectId: value, name: label }) => ({ value, label }))}
          value={chosenProject}
          onChange={(value) => form.setFieldValue('projectId', value ?? '')}
        />
        <Checkbox.Group label="Permissions" required {...form.getInputProps('permissions')}>
          <Stack gap={6} mt={6}>
            {known.map(({ permission, summary }) => (
              <Checkbox
                key={permission}
                value={permission}
                label={permission}
                description={summary}
              />
            ))}
          </Stack>
        </Checkbox.Group>
        <DateTimePicker
          label="Expires (UTC)"
          description="Empty: never."
          valueFormat="YYYY-MM-DD HH:mm"
          clearable
          clearButtonProps={{ 'aria-label': 'Never' }}
          {...form.getInputProps('expires')}
        />
        <ErrorNotice error={mint.error} />
        <Group justify="flex-end">
          <Button type="submit" loading={mint.isPending}>
            Make the key
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
