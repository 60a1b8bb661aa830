import { Button, Group, Title } from '@mantine/core'
import { useState } from 'react'
import type { ConsoleDelivery, ConsoleWebhook, WebhookEventInfo } from '../api/responses.ts'
import { useHasRole } from '../api/session.ts'
import type { TextSearchParams } from '../app/search-params.ts'
import { useApiMutation, useApiQuery } from '../api/use-api.ts'
import { formatLoss } from '../components/confirm/losses.tsx'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { DefinitionList } from '../components/definition-list.tsx'
import { DetailDrawer } from '../components/detail-drawer.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { ErrorNotice } from '../components/error-notice.tsx'
import { UtcTime } from '../components/utc-time.tsx'
import { ListPanel } from '../lists/list-panel.tsx'
import { ChoiceFilter } from '../lists/filters.tsx'
import { DeliveryPayload } from './delivery-payload.tsx'
import { deliveryColumns, redeliverColumn } from './delivery-columns.tsx'
import { EditEventsDialog } from './edit-events-dialog.tsx'
import { RotateSecretDialog } from './rotate-secret-dialog.tsx'
import { TestResult } from './test-result.tsx'
import { describeFilter, LastAttempt } from './webhook-status.tsx'

type DeliverySearch = TextSearchParams<'cursor' | 'state' | 'type'>

type Props = {
  readonly webhook: ConsoleWebhook | undefined
  readonly eventTypes: readonly WebhookEventInfo[]
  readonly search: DeliverySearch
  readonly onSearchChange: (change: DeliverySearch) => void
  readonly onClose: () => void
}

/** Shows one webhook with its deliveries. Admins can test it, change its events and delete it. */
export function WebhookDrawer({ webhook, eventTypes, onClose, ...list }: Props) {
  if (!webhook) return null
  return (
    <DetailDrawer title="Webhook" onClose={onClose}>
      <DefinitionList
        items={{
          URL: <span className="fg-mono">{webhook.url}</span>,
          'Webhook id': <span className="fg-mono">{webhook.webhookId}</span>,
          Created: <UtcTime timestampUtc={webhook.createdAtUtc} />,
          Events: webhook.events.join(', '),
          'Filter of matches': describeFilter(webhook) ?? 'none',
          'Last attempt': <LastAttempt webhook={webhook} />,
          'Failed attempts in a row': webhook.failures,
          ...(webhook.pausedUntilUtc !== null && {
            'Paused until': <UtcTime timestampUtc={webhook.pausedUntilUtc} />,
          }),
        }}
      />
      <WebhookActions webhook={webhook} eventTypes={eventTypes} onDeleted={onClose} />
      <Title order={3}>Deliveries</Title>
      <Deliveries
        webhookId={webhook.webhookId}
        types={[...eventTypes.map(({ type }) => type), 'webhook.test']}
        {...list}
      />
    </DetailDrawer>
  )
}

type ActionsProps = Pick<Props, 'eventTypes'> & {
  readonly webhook: ConsoleWebhook
  readonly onDeleted: () => void
}

function WebhookActions({ webhook, eventTypes, onDeleted }: ActionsProps) {
  const mayWrite = useHasRole('admin')
  const [dialog, setDialog] = useState<'events' | 'rotate' | 'delete'>()
  const pathParams = { webhookId: webhook.webhookId }
  const test = useApiMutation({ method: 'POST', path: '/webhooks/:webhookId/test' })
  const remove = useApiMutation({
    method: 'DELETE',
    path: '/webhooks/:webhookId',
    onSuccess: onDeleted,
    removedPath: '/webhooks/:webhookId/deliveries',
  })
  if (!mayWrite) return null
  return (
    <>
      <Group>
        <Button size="xs" loading={test.isPending} onClick={() => test.mutate({ pathParams })}>
          Send test event
        </Button>
        <Button size="xs" variant="default" onClick={() => setDialog('events')}>
          Edit events
        </Button>
        <Button size="xs" variant="default" onClick={() => setDialog('rotate')}>
          Rotate secret
        </Button>
        <Button size="xs" className="fg-danger" onClick={() => setDialog('delete')}>
          Delete webhook
        </Button>
      </Group>
      <ErrorNotice title="Couldn't send test event" error={test.error} />
      {test.data && <TestResult {...pathParams} eventId={test.data.eventId} />}
      {dialog === 'events' && (
        <EditEventsDialog
          webhook={webhook}
          eventTypes={eventTypes}
          onClose={() => setDialog(undefined)}
        />
      )}
      {dialog === 'rotate' && (
        <RotateSecretDialog webhook={webhook} onClose={() => setDialog(undefined)} />
      )}
      {dialog === 'delete' && (
        <ConfirmDialog
          title={`Delete webhook ${new URL(webhook.url).hostname}`}
          confirmationText={new URL(webhook.url).hostname}
          confirmLabel="Delete webhook"
          isPending={remove.isPending}
          errorTitle="Couldn't delete webhook"
          error={remove.error}
          onConfirm={() => remove.mutate({ pathParams })}
          onClose={() => setDialog(undefined)}
        >
          This deletes the webhook <span className="fg-mono">{webhook.url}</span> with its signing
          secret and its list of deliveries. Pending events that are never delivered:{' '}
          <strong>{formatLoss({ count: webhook.pending, one: 'event', many: 'events' })}</strong>.
          This cannot be undone. A new webhook has another secret.
        </ConfirmDialog>
      )}
    </>
  )
}

type DeliveriesProps = Pick<Props, 'search' | 'onSearchChange'> & {
  readonly webhookId: string
  readonly types: readonly string[]
}

/** The time until a pending delivery is read again. */
const pollMs = 1500

const states = ['pending', 'delivered', 'failed'] as const

function Deliveries({ webhookId, types, search, onSearchChange }: DeliveriesProps) {
  const mayWrite = useHasRole('admin')
  const [opened, setOpened] = useState<ConsoleDelivery>()
  const pathParams = { webhookId }
  const query = useApiQuery('/webhooks/:webhookId/deliveries', {
    pathParams,
    query: { ...search, limit: 20 },
    // Only until the first attempt: a later one can be hours away.
    pollMs: (data) => (data?.items.some(isUnattempted) ? pollMs : false),
  })
  const redeliver = useApiMutation({
    method: 'POST',
    path: '/webhooks/:webhookId/deliveries/:eventId/redeliver',
  })
  const onRedeliver = ({ eventId }: ConsoleDelivery): void =>
    redeliver.mutate({ pathParams: { ...pathParams, eventId } })
  return (
    <>
      <Group gap="sm">
        <ChoiceFilter
          label="Status"
          value={search.state}
          options={states}
          onChange={(state) => onSearchChange({ state, cursor: undefined })}
        />
        <ChoiceFilter
          label="Event"
          value={search.type}
          options={types}
          onChange={(type) => onSearchChange({ type, cursor: undefined })}
        />
      </Group>
      <ErrorNotice title="Couldn't send event again" error={redeliver.error} />
      <ListPanel
        caption="Deliveries"
        query={query}
        rowKey={({ eventId }) => eventId}
        columns={mayWrite ? [...deliveryColumns, redeliverColumn(onRedeliver)] : deliveryColumns}
        cursor={search.cursor}
        onCursorChange={(cursor) => onSearchChange({ cursor })}
        onOpen={setOpened}
        openLabel={({ type }) => `Open the data of ${type}`}
        empty={<EmptyState title="No deliveries">No event of the last days was due.</EmptyState>}
      />
      {opened && (
        <DeliveryPayload
          webhookId={webhookId}
          delivery={opened}
          onClose={() => setOpened(undefined)}
        />
      )}
    </>
  )
}

function isUnattempted({ state, attempts }: ConsoleDelivery): boolean {
  return state === 'pending' && attempts === 0
}
