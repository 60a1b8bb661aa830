import { Button, Group, Modal, Select, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import type { WebhookEventInfo } from '../api/responses.ts'
import { errorWithoutFields, showFieldErrors } from '../api/field-errors.ts'
import { useApiMutation, useApiQuery } from '../api/use-api.ts'
import { ErrorNotice } from '../components/error-notice.tsx'
import { onlyProject } from '../projects/only-project.ts'
import {
  EventFields,
  eventRules,
  eventValuesOf,
  toReceivedEvents,
  type EventValues,
} from './event-fields.tsx'
import { WebhookSecret } from './webhook-secret.tsx'

type Props = {
  readonly projectId: string | undefined
  readonly eventTypes: readonly WebhookEventInfo[]
  readonly onClose: () => void
}

/** Creates a webhook and shows its signing secret once. */
export function CreateWebhookDialog({ projectId, eventTypes, onClose }: Props) {
  const [secret, setSecret] = useState<string>()
  return (
    <Modal
      opened
      // The secret cannot be shown again, so only the Done button closes the dialog.
      onClose={secret ? () => {} : onClose}
      withCloseButton={!secret}
      title={secret ? 'New signing secret' : 'Create webhook'}
      size="lg"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {secret ? (
        <WebhookSecret secret={secret} onDone={onClose} />
      ) : (
        <CreateWebhookForm eventTypes={eventTypes} projectId={projectId} onCreated={setSecret} />
      )}
    </Modal>
  )
}

const fieldNames = { url: 'url', events: 'events', matchFilter: 'events' }

type CreateWebhookFormProps = Omit<Props, 'onClose'> & {
  readonly onCreated: (secret: string) => void
}

function CreateWebhookForm({ projectId, eventTypes, onCreated }: CreateWebhookFormProps) {
  const projects = useApiQuery('/projects')
  const create = useApiMutation({
    method: 'POST',
    path: '/webhooks',
    onSuccess: ({ secret }) => onCreated(secret),
    onError: (error) => showFieldErrors(form, error, fieldNames),
  })
  const items = projects.data?.items ?? []
  const only = onlyProject(items)?.projectId
  const form = useForm<EventValues & { projectId: string; url: string }>({
    initialValues: {
      projectId: projectId ?? '',
      url: '',
      ...eventValuesOf({
        events: eventTypes.filter(({ isDefault }) => isDefault).map(({ type }) => type),
        matchFilter: {},
      }),
    },
    validate: {
      projectId: (chosen) => (chosen || only ? null : 'Choose a project'),
      url: (url) => (url.trim() === '' ? 'Enter an address' : null),
      ...eventRules,
    },
  })
  return (
    <form
      onSubmit={form.onSubmit((values) =>
        create.mutate({
          body: {
            projectId: values.projectId || only,
            url: values.url.trim(),
            ...toReceivedEvents(values),
          },
        }),
      )}
    >
      <Stack>
        <TextInput
          label="URL"
          description="An https address that receives the events by POST."
          placeholder="https://example.com/facegate"
          required
          data-autofocus
          {...form.getInputProps('url')}
        />
        <Select
          label="Project"
          required
          allowDeselect={false}
          data={items.map(({ projectId: value, name: label }) => ({ value, label }))}
          placeholder="Choose a project"
          value={form.values.projectId || only || null}
          error={form.errors['projectId']}
          onChange={(value) => form.setFieldValue('projectId', value ?? '')}
        />
        <EventFields form={form} eventTypes={eventTypes} />
        <ErrorNotice
          title="Couldn't create webhook"
          error={errorWithoutFields(create.error, fieldNames)}
        />
        <Group justify="flex-end">
          <Button type="submit" loading={create.isPending}>
            Create webhook
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
