import { Button, Group, Modal, Select, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import type { ConsolePermission } from '../api/responses.ts'
import { useApiQuery, useApiMutation } from '../api/use-api.ts'
import { QueryContent } from '../components/query-content.tsx'
import { ErrorNotice } from '../components/error-notice.tsx'
import { onlyProject } from '../projects/only-project.ts'
import { OneTimeSecret } from '../components/one-time-secret.tsx'
import { expiryUtc, KeyExpiry } from './key-expiry.tsx'
import { PermissionFields } from './permission-fields.tsx'
import { defaultPermissions } from './permission-presets.ts'

type Props = { readonly projectId: string | undefined; readonly onClose: () => void }

/** Creates an API key and shows it once. */
export function CreateKeyDialog({ projectId, onClose }: Props) {
  const [key, setKey] = useState<string>()
  const permissions = useApiQuery('/permissions')
  return (
    <Modal
      opened
      // The key cannot be shown again, so only the Done button closes the dialog.
      onClose={key ? () => {} : onClose}
      withCloseButton={!key}
      title={key ? 'New API key' : 'Create API key'}
      size="lg"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {key ? (
        <OneTimeSecret secret={key} label="API key" onDone={onClose} />
      ) : (
        <QueryContent query={permissions}>
          {(data) => (
            <CreateKeyForm availablePermissions={data} projectId={projectId} onCreated={setKey} />
          )}
        </QueryContent>
      )}
    </Modal>
  )
}

type CreateKeyFormProps = {
  readonly availablePermissions: readonly ConsolePermission[]
  readonly projectId: string | undefined
  readonly onCreated: (key: string) => void
}

function CreateKeyForm({ availablePermissions, projectId, onCreated }: CreateKeyFormProps) {
  const projects = useApiQuery('/projects')
  const create = useApiMutation({
    method: 'POST',
    path: '/keys',
    onSuccess: ({ key }) => onCreated(key),
  })
  const items = projects.data?.items ?? []
  const only = onlyProject(items)?.projectId
  const form = useForm<{
    projectId: string
    name: string
    permissions: string[]
    expiry: string | null
    expires: string | null
  }>({
    initialValues: {
      projectId: projectId ?? '',
      name: '',
      permissions: [...defaultPermissions(availablePermissions)],
      expiry: null,
      expires: null,
    },
    validate: {
      projectId: (chosen) => (chosen || only ? null : 'Choose a project'),
      name: (name) => (name.trim() === '' ? 'Enter a name' : null),
      permissions: (selected) => (selected.length === 0 ? 'Select at least one permission' : null),
      expiry: (expiry) => (expiry === null ? 'Choose when the key expires' : null),
      expires: (expires, { expiry }) => (expiry === 'date' && !expires ? 'Choose a date' : null),
    },
  })
  return (
    <form
      onSubmit={form.onSubmit(({ name, permissions, expiry, expires }) =>
        create.mutate({
          body: {
            projectId: form.values.projectId || only,
            name: name.trim(),
            permissions,
            expiresAtUtc: expiryUtc(expiry, expires),
          },
        }),
      )}
    >
      <Stack>
        <TextInput
          label="Name"
          description="The program that uses the key."
          required
          data-autofocus
          {...form.getInputProps('name')}
        />
        <Select
          label="Project"
          description="Determines the gallery, budget and rate limit."
          required
          allowDeselect={false}
          data={items.map(({ projectId: value, name: label }) => ({ value, label }))}
          placeholder="Choose a project"
          value={form.values.projectId || only || null}
          error={form.errors['projectId']}
          onChange={(value) => form.setFieldValue('projectId', value ?? '')}
        />
        <PermissionFields
          available={availablePermissions}
          value={form.values.permissions}
          error={textOf(form.errors['permissions'])}
          onChange={(permissions) => form.setFieldValue('permissions', permissions)}
        />
        <KeyExpiry expiry={form.values.expiry} getInputProps={form.getInputProps} />
        <ErrorNotice title="Couldn't create key" error={create.error} />
        <Group justify="flex-end">
          <Button type="submit" loading={create.isPending}>
            Create key
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

/** The errors of this form are texts. */
function textOf(error: unknown): string | undefined {
  return typeof error === 'string' ? error : undefined
}
