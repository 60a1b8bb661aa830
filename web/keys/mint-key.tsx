import { Button, Checkbox, Group, Modal, Select, Stack, TextInput } from '@mantine/core'
import { DateTimePicker } from '@mantine/dates'
import '@mantine/dates/styles.css'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import type { Permission } from '../api/answers.ts'
import { useAnswer, useSend } from '../api/use-api.ts'
import { Answered } from '../parts/answered.tsx'
import { ErrorNotice } from '../parts/error-notice.tsx'
import { pickerUtc } from '../parts/picker-utc.ts'
import { ShownOnce } from './shown-once.tsx'

type Parts = { readonly projectId: string | undefined; readonly onClose: () => void }

/** Makes a key and shows it, once. */
export function MintKey({ projectId, onClose }: Parts) {
  const [key, setKey] = useState<string>()
  const permissions = useAnswer('/permissions')
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
        <ShownOnce secret={key} what="key" onDone={onClose} />
      ) : (
        <Answered asked={permissions}>
          {(known) => <MintForm known={known} projectId={projectId} onKey={setKey} />}
        </Answered>
      )}
    </Modal>
  )
}

type FormParts = {
  readonly known: readonly Permission[]
  readonly projectId: string | undefined
  readonly onKey: (key: string) => void
}

function MintForm({ known, projectId, onKey }: FormParts) {
  const projects = useAnswer('/projects')
  const mint = useSend<{ readonly key: string }>({
    method: 'POST',
    path: '/keys',
    onDone: ({ key }) => onKey(key),
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
            ...(expires ? { expiresAtUtc: pickerUtc(expires) } : {}),
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
