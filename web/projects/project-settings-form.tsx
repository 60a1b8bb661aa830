import { Button, Group, NumberInput, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import type { ConsoleProject } from '../api/responses.ts'
import { useHasRole } from '../api/session.ts'
import { useApiMutation } from '../api/use-api.ts'
import { ErrorNotice } from '../components/error-notice.tsx'

/** Mantine's number fields hold a text while empty. */
type NumberInputValue = number | string

type ProjectFormValues = {
  readonly name: string
  readonly sustainedPerS: NumberInputValue
  readonly burst: NumberInputValue
  readonly retentionDays: NumberInputValue
  readonly identifyThreshold: NumberInputValue
}

/** The numbers of a project. An empty field is the default of the service. */
export function ProjectSettingsForm({ project }: { readonly project: ConsoleProject }) {
  const mayWrite = useHasRole('admin')
  const save = useApiMutation({
    method: 'PATCH',
    path: '/projects/:projectId',
    onSuccess: () => notifications.show({ message: 'Saved. It applies from the next call on.' }),
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
  const parts = { projectId: project.projectId }
  return (
    <form
      onSubmit={form.onSubmit((values) =>
        save.mutate({ pathParams: parts, body: requestBodyOf(values) }),
      )}
    >
      <fieldset disabled={!mayWrite} className="fg-fieldset">
        <Stack>
          <TextInput label="Name" required {...form.getInputProps('name')} />
          <NumberInput
            label="Sustained limit, calls per second"
            description="How fast the project may call for ever; faster calls get RATE_LIMITED."
            placeholder={`default: ${project.sustainedPerS}`}
            min={0.1}
            {...form.getInputProps('sustainedPerS')}
          />
          <NumberInput
            label="Burst limit, calls"
            description="How many calls it may make at once after a pause."
            placeholder={`default: ${project.burst}`}
            min={1}
            allowDecimal={false}
            {...form.getInputProps('burst')}
          />
          <NumberInput
            label="Threshold of svc.identify"
            description="0 to 1; empty: automatic, by the size of the gallery. A call’s own threshold comes first."
            placeholder="automatic"
            min={0}
            max={1}
            step={0.01}
            decimalScale={4}
            {...form.getInputProps('identifyThreshold')}
          />
          <NumberInput
            label="Retention of subjects, days"
            description="Subjects whom no call met for so long are deleted by themselves."
            placeholder={`default: ${project.retentionDays}`}
            min={1}
            allowDecimal={false}
            {...form.getInputProps('retentionDays')}
          />
          <ErrorNotice error={save.error} />
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
