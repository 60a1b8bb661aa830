import { setTimeout as sleep } from 'node:timers/promises'
import { formatUtc } from '../../lib/clock.ts'
import type { Store } from '../../store/database.ts'
import { findDeliveries, type WebhookDelivery } from '../../store/webhooks/deliveries.ts'
import { print, printRows } from '../command.ts'
import { withStore } from '../with-store.ts'
import { changeWebhook, requireWebhook } from './change-webhook.ts'

type WebhookArguments = { readonly webhookId: string; readonly json: boolean }

const testWaitMs = 15_000
const pollMs = 250

/** Sends a test event and waits for its first attempt. */
export async function sendTestEvent({ webhookId, json }: WebhookArguments): Promise<void> {
  const delivery = await withStore(async (store) => {
    const eventId = await changeWebhook(store, 'webhook.test', async ({ tx, webhooks, nowMs }) => {
      const found = await requireWebhook(tx, webhookId)
      const result = await webhooks.sendTest(tx, found, nowMs)
      const { accountId, pausedUntilMs, failures } = found
      if (pausedUntilMs > nowMs) console.error(describePause(pausedUntilMs, failures))
      return { result, accountId, target: webhookId, detail: { eventId: result } }
    })
    return waitForAttempt(store, { webhookId, eventId })
  })
  const { state, attempts, status, error, eventId } = delivery
  if (state !== 'delivered' && !json)
    throw new Error(
      attempts === 0 || error === null
        ? `the event ${eventId} was not sent within 15 seconds; is a server running?`
        : `the event ${eventId} was not delivered: ${error}`,
    )
  print(delivery, json, () => `the event ${eventId} was delivered, status ${status}`)
}

function describePause(pausedUntilMs: number, failures: number): string {
  const pause = `paused until ${formatUtc(pausedUntilMs)} after ${failures} failed attempts`
  return `the webhook was ${pause}; the test ends the pause`
}

/** Returns the delivery when its first attempt has ended, or after `testWaitMs`. */
async function waitForAttempt(
  store: Store,
  { webhookId, eventId }: { readonly webhookId: string; readonly eventId: string },
): Promise<WebhookDelivery> {
  for (let waitedMs = 0; ; waitedMs += pollMs) {
    const filter = { webhookId, eventId, limit: 1 }
    const [delivery] = await store.read((tx) => findDeliveries(tx, filter))
    if (!delivery) throw new Error(`the event ${eventId} was deleted`)
    const hasEnded = delivery.state !== 'pending' || delivery.error !== null
    if (hasEnded || waitedMs >= testWaitMs) return delivery
    await sleep(pollMs)
  }
}

/** Lists the deliveries of a webhook, the newest first. */
export async function listDeliveries({
  webhookId,
  state,
  limit,
  json,
}: WebhookArguments & {
  readonly state: WebhookDelivery['state'] | undefined
  readonly limit: number
}): Promise<void> {
  const found = await withStore((store) =>
    store.read(async (tx) => {
      await requireWebhook(tx, webhookId)
      return findDeliveries(tx, { webhookId, state, limit })
    }),
  )
  printRows(found, json, {
    event: 'eventId',
    type: 'type',
    created: ({ createdAtMs }) => formatUtc(createdAtMs),
    state: 'state',
    attempts: 'attempts',
    result: ({ error, status }) => error ?? (status === null ? '' : `status ${status}`),
  })
}

/** Makes a running server send an event again. */
export async function redeliverEvent({
  webhookId,
  eventId,
  json,
}: WebhookArguments & { readonly eventId: string }): Promise<void> {
  await withStore((store) =>
    changeWebhook(store, 'webhook.redeliver', async ({ tx, webhooks, nowMs }) => {
      const { accountId } = await requireWebhook(tx, webhookId)
      if (!(await webhooks.redeliver(tx, { webhookId, eventId }, nowMs)))
        throw new Error(`the webhook ${webhookId} has no event ${eventId}`)
      return { result: undefined, accountId, target: webhookId, detail: { eventId } }
    }),
  )
  print({ webhookId, eventId }, json, () => `the event ${eventId} will be sent again`)
}
