import { Button, Group, NumberInput, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import type { ConsoleProject } from '../api/responses.ts'
import { useHasRole } from '../api/session.ts'
import { useApiMutation } from '../api/use-api.ts'
import { ErrorNotice } from '../components/error-notice.tsx'

/** The value of an empty Mantine number field is a string. */
type NumberInputValue = number | string

type ProjectFormValues = {
  readonly name: string
  readonly sustainedPerS: NumberInputValue
  readonly burst: NumberInputValue
  readonly retentionDays: NumberInputValue
  readonly identifyThreshold: NumberInputValue
}

/** Edits the name, limits and defaults of a project. An empty field uses the service default. */
export function ProjectSettingsForm({ project }: { readonly project: ConsoleProject }) {
  const mayWrite = useHasRole('admin')
  const save = useApiMutation({
    method: 'PATCH',
    path: '/projects/:projectId',
    onSuccess: () => notifications.show({ message: 'Settings saved. They apply to new calls.' }),
  })
  const form = useForm<ProjectFormValues>({
    initialValues: {
      name: project.name,
      sustainedPerS: project.isSustainedDefault ? '' : project.sustainedPerS,
      burst: project.isBurstDefault ? '' : project.burst,
      retentionDays: project.isRetentionDefault ? '' : project.retentionDays,
      identifyThreshold: project.identifyThreshold ?? '',
    },
  })
  const pathParams = { projectId: project.projectId }
  return (
    <form
      onSubmit={form.onSubmit((values) => save.mutate({ pathParams, body: requestBodyOf(values) }))}
    >
      <fieldset disabled={!mayWrite} className="fg-fieldset">
        <Stack>
          <TextInput label="Name" required {...form.getInputProps('name')} />
          <NumberInput
            label="Sustained limit (requests per second)"
            description="Average requests per second allowed. Calls above the limit return RATE_LIMITED."
            placeholder={`Default: ${project.sustainedPerS}`}
            min={0.1}
            {...form.getInputProps('sustainedPerS')}
          />
          <NumberInput
            label="Burst limit (requests)"
            description="Maximum number of requests allowed immediately after a pause."
            placeholder={`Default: ${project.burst}`}
            min={1}
            allowDecimal={false}
            {...form.getInputProps('burst')}
          />
          <NumberInput
            label="svc.identify threshold"
            description="0 to 1. Leave empty to derive it from the gallery size. The threshold of a call takes precedence."
            placeholder="Automatic"
            min={0}
            max={1}
            step={0.01}
            decimalScale={4}
            {...form.getInputProps('identifyThreshold')}
          />
          <NumberInput
            label="Subject retention (days)"
            description="Automatically delete subjects with no activity for this many days."
            placeholder={`Default: ${project.retentionDays}`}
            min={1}
            allowDecimal={false}
            {...form.getInputProps('retentionDays')}
          />
          <ErrorNotice title="Couldn't save settings" error={save.error} />
          {mayWrite && (
            <Group justify="flex-end">
              <Button type="submit" loading={save.isPending}>
                Save
              </Button>
            </Group>
          )}
        </Stack>
      </fieldset>
    </form>
  )
}

function requestBodyOf({ name, ...numbers }: ProjectFormValues): Readonly<Record<string, unknown>> {
  const entries = Object.entries(numbers).map(([field, entry]) => [
    field,
    entry === '' ? null : Number(entry),
  ])
  return { name: name.trim(), ...Object.fromEntries(entries) }
}
