import { Button, Group, Modal, Radio, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { errorWithoutFields, showFieldErrors } from '../api/field-errors.ts'
import { useApiMutation } from '../api/use-api.ts'
import { ErrorNotice } from '../components/error-notice.tsx'

const fieldNames = { name: 'name' }

/** Creates a project. */
export function CreateProjectDialog({ onClose }: { readonly onClose: () => void }) {
  const create = useApiMutation({
    method: 'POST',
    path: '/projects',
    onSuccess: onClose,
    onError: (error) => showFieldErrors(form, error, fieldNames),
  })
  const form = useForm({
    initialValues: { name: '', galleryMode: 'isolated' },
    validate: { name: (name) => (name.trim() === '' ? 'Enter a name' : null) },
  })
  return (
    <Modal
      opened
      onClose={onClose}
      title="Create project"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form
        onSubmit={form.onSubmit(({ name, galleryMode }) =>
          create.mutate({ body: { name: name.trim(), galleryMode } }),
        )}
      >
        <Stack>
          <TextInput label="Name" required data-autofocus {...form.getInputProps('name')} />
          <Radio.Group label="Gallery" {...form.getInputProps('galleryMode')}>
            <Stack gap="xs" mt={6}>
              <Radio
                value="isolated"
                label="Isolated"
                description="Only this project can access the subjects it enrolls."
              />
              <Radio
                value="shared"
                label="Shared"
                description="All shared projects of the account access the same subjects."
              />
            </Stack>
          </Radio.Group>
          <ErrorNotice
            title="Couldn't create project"
            error={errorWithoutFields(create.error, fieldNames)}
          />
          <Group justify="flex-end">
            <Button type="submit" loading={create.isPending}>
              Create project
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
