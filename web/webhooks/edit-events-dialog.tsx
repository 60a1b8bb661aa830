import { Button, Group, Modal, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { ConsoleWebhook, WebhookEventInfo } from '../api/responses.ts'
import { errorWithoutFields, showFieldErrors } from '../api/field-errors.ts'
import { useApiMutation } from '../api/use-api.ts'
import { ErrorNotice } from '../components/error-notice.tsx'
import {
  EventFields,
  eventRules,
  eventValuesOf,
  toReceivedEvents,
  type EventValues,
} from './event-fields.tsx'

type Props = {
  readonly webhook: ConsoleWebhook
  readonly eventTypes: readonly WebhookEventInfo[]
  readonly onClose: () => void
}

const fieldNames = { events: 'events', matchFilter: 'events' }

/** Changes the events that a webhook receives. Its secret and its pending events stay. */
export function EditEventsDialog({ webhook, eventTypes, onClose }: Props) {
  const save = useApiMutation({
    method: 'PATCH',
    path: '/webhooks/:webhookId',
    onSuccess: onClose,
    onError: (error) => showFieldErrors(form, error, fieldNames),
  })
  const form = useForm<EventValues>({
    initialValues: eventValuesOf(webhook),
    validate: eventRules,
  })
  const pathParams = { webhookId: webhook.webhookId }
  return (
    <Modal
      opened
      onClose={onClose}
      title="Edit events"
      size="lg"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form
        onSubmit={form.onSubmit((values) =>
          save.mutate({ pathParams, body: toReceivedEvents(values) }),
        )}
      >
        <Stack>
          <EventFields form={form} eventTypes={eventTypes} />
          <ErrorNotice
            title="Couldn't save events"
            error={errorWithoutFields(save.error, fieldNames)}
          />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" disabled={!form.isDirty()} loading={save.isPending}>
              Save events
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
