import { Button, Group, Modal, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { ConsoleWebhook, WebhookEventInfo } from '../api/responses.ts'
import { errorWithoutFields, showFieldErrors } from '../api/field-errors.ts'
import { useApi, useApiMutation } from '../api/use-api.ts'
import { ErrorNotice } from '../components/error-notice.tsx'
import { changedValues, followStored } from '../forms/stored-values.ts'
import { useStoredValues } from '../forms/use-stored-values.ts'
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

/**
 * Changes the events that a webhook receives. Its secret and its pending events stay, and so do the
 * events that another user has selected meanwhile.
 */
export function EditEventsDialog({ webhook, eventTypes, onClose }: Props) {
  const api = useApi()
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
  useStoredValues(form, eventValuesOf(webhook))
  const { webhookId, projectId } = webhook
  /** Returns a request that applies the changes of the user to the events that are stored now. */
  const requestOf = async (values: EventValues) => {
    const opened = form.getInitialValues()
    const { items } = await api.get('/webhooks', { query: { projectId } })
    const stored = items.find((item) => item.webhookId === webhookId)
    const merged = stored ? followStored(opened, values, eventValuesOf(stored)) : values
    return { pathParams: { webhookId }, body: toReceivedEvents(merged) }
  }
  const isChanged = Object.keys(changedValues(form.getInitialValues(), form.values)).length > 0
  return (
    <Modal
      opened
      onClose={onClose}
      title="Edit events"
      size="lg"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form onSubmit={form.onSubmit((values) => save.mutate(() => requestOf(values)))}>
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
            <Button type="submit" disabled={!isChanged} loading={save.isPending}>
              Save events
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
