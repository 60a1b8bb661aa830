import type { Store } from '../../../src/store/database.ts'
import type { WebhookDelivery } from '../../../src/store/webhooks/deliveries.ts'

/** Settings with which webhooks may use the receiver, and repeat a failed event at once. */
export const webhookSettings = {
  WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
  WEBHOOK_ALLOW_HTTP: 'on',
  WEBHOOK_RETRY_MS: '10',
} as const

/** Returns the deliveries of a webhook, the newest first. */
export function deliveriesOf(store: Store, webhookId: string): Promise<readonly WebhookDelivery[]> {
  const query = store.db.selectFrom('webhookDeliveries').selectAll()
  const ofWebhook = query.where('webhookId', '=', webhookId)
  return ofWebhook.orderBy('createdAtMs', 'desc').orderBy('eventId', 'desc').execute()
}
