import { type Clock, formatUtc } from '../lib/clock.ts'
import type { Keyring } from '../gallery/keys/keyring.ts'
import { unwrapWebhookSecret } from '../gallery/keys/webhook-secrets.ts'
import type { Log } from '../lib/log.ts'
import type { Store } from '../store/database.ts'
import {
  recordAttempt,
  releaseDelivery,
  type claimDeliveries,
} from '../store/webhooks/deliveries.ts'
import { findWebhookSecrets, pauseWebhook, resumeWebhook } from '../store/webhooks/webhooks.ts'
import type { AddressRules } from './address-rules.ts'
import { attemptsMax, pauseMs, retryWaitMs, type RetryOptions } from './retry-schedule.ts'
import { sendEvent, type SendResult } from './send-event.ts'
import { sign, signatureHeader } from './signature.ts'

export type DeliverOptions = {
  readonly store: Store
  readonly keyring: Keyring
  readonly rules: AddressRules
  readonly timeoutMs: number
  readonly retry: RetryOptions
  readonly clock: Clock
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>
}

export type ClaimedDelivery = Awaited<ReturnType<typeof claimDeliveries>>[number]

/** How an attempt ended. `released`: the server stopped, and the attempt does not count. */
export type DeliveryOutcome = 'delivered' | 'retried' | 'failed' | 'released'

/** Sends a claimed event and stores the result. */
export async function deliver(
  delivery: ClaimedDelivery,
  options: DeliverOptions,
  signal: AbortSignal,
): Promise<DeliveryOutcome> {
  const { store, keyring, clock } = options
  const { webhookId, url } = delivery
  const secrets = await store.read((tx) => findWebhookSecrets(tx, webhookId, clock()))
  const texts = secrets.map((secret) => unwrapWebhookSecret(keyring, secret))
  const body = bodyOf(delivery)
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'facegate-webhooks',
    'facegate-event-id': delivery.eventId,
    [signatureHeader]: sign(body, texts, clock()),
  }
  const result = await sendEvent({ url, headers, body }, { ...options, signal })
  if (result.error !== null && signal.aborted) {
    await store.write((tx) => releaseDelivery(tx, delivery))
    return 'released'
  }
  return recordResult(delivery, result, options)
}

/** The body of a delivery. It contains no image, no template and no name of a person. */
function bodyOf({ eventId, type, projectId, createdAtMs, data }: ClaimedDelivery): string {
  const createdAtUtc = formatUtc(createdAtMs)
  return JSON.stringify({ id: eventId, type, createdAtUtc, projectId, data: JSON.parse(data) })
}

async function recordResult(
  delivery: ClaimedDelivery,
  { status, error }: SendResult,
  { store, retry, clock, log }: DeliverOptions,
): Promise<DeliveryOutcome> {
  const { webhookId, eventId, type, attempts, failures } = delivery
  const nowMs = clock()
  const outcome = error === null ? 'delivered' : attempts < attemptsMax ? 'retried' : 'failed'
  await store.write(async (tx) => {
    const dueAtMs = outcome === 'retried' ? nowMs + retryWaitMs(attempts, retry) : nowMs
    const state = outcome === 'retried' ? 'pending' : outcome
    if (!(await recordAttempt(tx, delivery, { state, dueAtMs, status, error }))) return
    if (error === null) await resumeWebhook(tx, webhookId, { isWorking: true })
    else {
      const pausedUntilMs = nowMs + pauseMs(failures + 1, retry)
      await pauseWebhook(tx, webhookId, { failures: failures + 1, nowMs, pausedUntilMs })
    }
  })
  const fields = { webhookId, eventId, type, attempts, status }
  if (outcome === 'failed') log.error({ ...fields, reason: error }, 'a webhook event was given up')
  else if (outcome === 'retried' && failures === 0)
    log.warn({ ...fields, reason: error }, 'a webhook does not accept events')
  else if (outcome === 'delivered' && failures > 0)
    log.info(fields, 'a webhook accepts events again')
  return outcome
}
