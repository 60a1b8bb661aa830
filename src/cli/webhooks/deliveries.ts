import { setTimeout as sleep } from 'node:timers/promises'
import { formatUtc } from '../../lib/utc.ts'
import type { Store } from '../../store/database.ts'
import { findDeliveries, type WebhookDelivery } from '../../store/webhooks/deliveries.ts'
import { UsageError } from '../command.ts'
import { parseArguments, requireArgument, text } from '../options.ts'
import { formatTable, print } from '../output.ts'
import { withStore } from '../with-store.ts'
import { changeWebhook, requireWebhook } from './change-webhook.ts'
import { parseWhole } from './parse-whole.ts'

const testWaitMs = 15_000
const pollMs = 250

/** Sends a test event and waits for its first attempt. */
export async function sendTestEvent(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArguments(args, {})
  const webhookId = requireArgument(positionals, '<webhookId>')
  const delivery = await withStore(async (store) => {
    const eventId = await changeWebhook(store, 'webhook.test', async ({ tx, webhooks, nowMs }) => {
      const found = await requireWebhook(tx, webhookId)
      const result = await webhooks.sendTest(tx, found, nowMs)
      const { accountId } = found
      return { result, accountId, target: webhookId, detail: { eventId: result } }
    })
    return waitForAttempt(store, { webhookId, eventId })
  })
  const { state, attempts, status, error, eventId } = delivery
  if (state !== 'delivered' && !values.json)
    throw new Error(
      attempts === 0 || error === null
        ? `the event ${eventId} was not sent within 15 seconds; is a server running?`
        : `the event ${eventId} was not delivered: ${error}`,
    )
  print(delivery, values.json, () => `the event ${eventId} was delivered, status ${status}`)
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
export async function listDeliveries(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArguments(args, { state: text, limit: text })
  const webhookId = requireArgument(positionals, '<webhookId>')
  const limit = parseWhole('--limit', values.limit, { fallback: 20, max: 1000 })
  const { state } = values
  if (state !== undefined && state !== 'pending' && state !== 'delivered' && state !== 'failed')
    throw new UsageError(`--state must be pending, delivered or failed, not ${state}`)
  const found = await withStore((store) =>
    store.read(async (tx) => {
      await requireWebhook(tx, webhookId)
      return findDeliveries(tx, { webhookId, state, limit })
    }),
  )
  print(found, values.json, () => deliveryTable(found))
}

/** Makes a running server send an event again. */
export async function redeliverEvent(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArguments(args, {})
  const [webhookId, eventId] = positionals
  if (webhookId === undefined || eventId === undefined || positionals.length > 2)
    throw new UsageError('expected two arguments, <webhookId> <eventId>')
  await withStore((store) =>
    changeWebhook(store, 'webhook.redeliver', async ({ tx, webhooks, nowMs }) => {
      const { accountId } = await requireWebhook(tx, webhookId)
      if (!(await webhooks.redeliver(tx, { webhookId, eventId }, nowMs)))
        throw new Error(`the webhook ${webhookId} has no event ${eventId}`)
      return { result: undefined, accountId, target: webhookId, detail: { eventId } }
    }),
  )
  print({ webhookId, eventId }, values.json, () => `the event ${eventId} will be sent again`)
}

function deliveryTable(found: readonly WebhookDelivery[]): string {
  return formatTable(
    ['event', 'type', 'created', 'state', 'attempts', 'result'],
    found.map((row) => [
      row.eventId,
      row.type,
      formatUtc(row.createdAtMs),
      row.state,
      String(row.attempts),
      row.error ?? (row.status === null ? '' : `status ${row.status}`),
    ]),
  )
}
