import { Button, Group, Title } from '@mantine/core'
import { useState } from 'react'
import type { ConsoleDelivery, ConsoleWebhook } from '../api/responses.ts'
import { useHasRole } from '../api/session.ts'
import { useApiMutation, useApiQuery } from '../api/use-api.ts'
import { formatLoss } from '../components/confirm/losses.tsx'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { DefinitionList } from '../components/definition-list.tsx'
import { DetailDrawer } from '../components/detail-drawer.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { ErrorNotice } from '../components/error-notice.tsx'
import { UtcTime } from '../components/utc-time.tsx'
import { ListPanel } from '../lists/list-panel.tsx'
import { deliveryColumns, redeliverColumn } from './delivery-columns.tsx'
import { RotateSecretDialog } from './rotate-secret-dialog.tsx'

type Props = {
  readonly webhook: ConsoleWebhook | undefined
  readonly cursor: string | undefined
  readonly onCursorChange: (cursor: string | undefined) => void
  readonly onClose: () => void
}

/** Shows one webhook with its deliveries. Admins can test it, replace its secret and delete it. */
export function WebhookDrawer({ webhook, onClose, ...list }: Props) {
  if (!webhook) return null
  return (
    <DetailDrawer title="Webhook" onClose={onClose}>
      <DefinitionList
        items={{
          URL: <span className="fg-mono">{webhook.url}</span>,
          'Webhook id': <span className="fg-mono">{webhook.webhookId}</span>,
          Created: <UtcTime timestampUtc={webhook.createdAtUtc} />,
          'Failed attempts in a row': webhook.failures,
        }}
      />
      <WebhookActions webhook={webhook} onDeleted={onClose} />
      <Title order={3}>Deliveries</Title>
      <Deliveries webhookId={webhook.webhookId} {...list} />
    </DetailDrawer>
  )
}

function WebhookActions({
  webhook,
  onDeleted,
}: {
  readonly webhook: ConsoleWebhook
  readonly onDeleted: () => void
}) {
  const mayWrite = useHasRole('admin')
  const [dialog, setDialog] = useState<'rotate' | 'delete'>()
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
        <Button size="xs" variant="default" onClick={() => setDialog('rotate')}>
          Rotate secret
        </Button>
        <Button size="xs" className="fg-danger" onClick={() => setDialog('delete')}>
          Delete webhook
        </Button>
      </Group>
      <ErrorNotice title="Couldn't send test event" error={test.error} />
      {dialog === 'rotate' && (
        <RotateSecretDialog webhook={webhook} onClose={() => setDialog(undefined)} />
      )}
      {dialog === 'delete' && (
        <ConfirmDialog
          title="Delete webhook"
          confirmationText={new URL(webhook.url).hostname}
          confirmLabel="Delete webhook"
          isPending={remove.isPending}
          errorTitle="Couldn't delete webhook"
          error={remove.error}
          onConfirm={() => remove.mutate({ pathParams })}
          onClose={() => setDialog(undefined)}
        >
          This deletes the webhook with its signing secret and its list of deliveries. Pending
          events that are never delivered:{' '}
          <strong>{formatLoss({ count: webhook.pending, one: 'event', many: 'events' })}</strong>.
          This cannot be undone. A new webhook has another secret.
        </ConfirmDialog>
      )}
    </>
  )
}

type DeliveriesProps = Omit<Props, 'webhook' | 'onClose'> & { readonly webhookId: string }

/** The time until a pending delivery is read again. */
const pollMs = 1500

function Deliveries({ webhookId, cursor, onCursorChange }: DeliveriesProps) {
  const mayWrite = useHasRole('admin')
  const pathParams = { webhookId }
  const query = useApiQuery('/webhooks/:webhookId/deliveries', {
    pathParams,
    query: { cursor, limit: 20 },
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
      <ErrorNotice title="Couldn't send event again" error={redeliver.error} />
      <ListPanel
        caption="Deliveries"
        query={query}
        rowKey={({ eventId }) => eventId}
        columns={mayWrite ? [...deliveryColumns, redeliverColumn(onRedeliver)] : deliveryColumns}
        cursor={cursor}
        onCursorChange={onCursorChange}
        empty={<EmptyState title="No deliveries">No event of the last days was due.</EmptyState>}
      />
    </>
  )
}

function isUnattempted({ state, attempts }: ConsoleDelivery): boolean {
  return state === 'pending' && attempts === 0
}
