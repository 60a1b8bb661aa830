import { createHmac } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { LookupFunction } from 'node:net'
import type { Keyring } from '../gallery/keys/keyring.ts'
import { unwrapWebhookSecret } from '../gallery/keys/webhook-secrets.ts'
import { type Clock, formatUtc } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Store } from '../store/database.ts'
import {
  type claimDeliveries,
  recordAttempt,
  releaseDelivery,
} from '../store/webhooks/deliveries.ts'
import { findWebhookSecrets, pauseWebhook, resumeWebhook } from '../store/webhooks/webhooks.ts'
import { type AddressRules, type createLookups, findUrlProblem } from './address-rules.ts'
import { type RetryOptions, attemptsMax, pauseMs, retryWaitMs } from './retry-schedule.ts'

export type DeliverOptions = {
  readonly store: Store
  readonly keyring: Keyring
  readonly rules: AddressRules
  /** The time for the whole request, from the name resolution to the end of the response. */
  readonly timeoutMs: number
  readonly retry: RetryOptions
  readonly clock: Clock
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>
}

type ClaimedDelivery = Awaited<ReturnType<typeof claimDeliveries>>[number]

/** How an attempt ended. `released`: the server stopped, and the attempt does not count. */
export type DeliveryOutcome = 'delivered' | 'retried' | 'failed' | 'released'

/** Sends a claimed event and stores the result. */
export async function deliver(
  delivery: ClaimedDelivery,
  options: DeliverOptions & SendOptions,
): Promise<DeliveryOutcome> {
  const { store, keyring, clock, signal } = options
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
  const result = await sendEvent({ url, headers, body }, options)
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

type SendOptions = Pick<DeliverOptions, 'rules' | 'timeoutMs'> & {
  /** Aborts when the server stops. */
  readonly signal: AbortSignal
  readonly accountId: string
  /** Creates the resolution of the name of a receiver. */
  readonly createLookup: ReturnType<typeof createLookups>
}

type EventRequest = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** The result of an attempt. `error` is undefined for a status from 200 to 299. */
type SendResult = { readonly status: number | null; readonly error: string | null }

/** The rest of a longer response is not read. */
const responseBytesMax = 16_384

/** Sends an event. It follows no redirect, and discards the body of the response. */
async function sendEvent(event: EventRequest, options: SendOptions): Promise<SendResult> {
  const { rules, timeoutMs, accountId, createLookup } = options
  const problem = findUrlProblem(event.url, rules)
  if (problem !== undefined) return { status: null, error: `the URL ${problem}` }
  const timeout = AbortSignal.timeout(timeoutMs)
  try {
    const signal = AbortSignal.any([options.signal, timeout])
    const status = await post(event, { signal, lookup: createLookup(accountId, signal) })
    return { status, error: errorOf(status) }
  } catch (error) {
    if (timeout.aborted) return { status: null, error: `no response within ${timeoutMs} ms` }
    return { status: null, error: messageOf(error) }
  }
}

function post(
  { url: text, headers, body }: EventRequest,
  { signal, lookup }: { readonly signal: AbortSignal; readonly lookup: LookupFunction },
): Promise<number> {
  // The lookup returns all addresses. An address in place of a name has none: it was checked.
  const connection = { signal, lookup, autoSelectFamily: true }
  const url = new URL(text)
  // An import statement would load all HTTP clients of Node, 50 ms at each start.
  const { request } = process.getBuiltinModule(
    url.protocol === 'https:' ? 'node:https' : 'node:http',
  )
  const bytes = Buffer.from(body)
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method: 'POST',
      headers: { ...headers, 'content-length': String(bytes.length) },
      // Each delivery has its own connection, to an address that was checked for it.
      agent: false,
      ...connection,
    })
    sent.on('error', reject)
    // Without this, Node closes the connection after the status 101 and reports nothing.
    sent.on('upgrade', ({ statusCode = 101 }, socket) => {
      socket.destroy()
      resolve(statusCode)
    })
    sent.on('response', (response) => {
      discardBody(response).then(() => resolve(response.statusCode ?? 0), reject)
    })
    sent.end(bytes)
  })
}

/** Reads the response to its end, or closes the connection after `responseBytesMax`. */
async function discardBody(response: IncomingMessage): Promise<void> {
  let received = 0
  for await (const chunk of response) {
    received += (chunk as Buffer).length
    if (received > responseBytesMax) return void response.destroy()
  }
}

function errorOf(status: number): string | null {
  if (status >= 200 && status <= 299) return null
  if (status >= 300 && status <= 399) return `status ${status}: redirects are not followed`
  return `status ${status}`
}

const errorCharsMax = 300

function messageOf(error: unknown): string {
  // A host with several addresses fails with an AggregateError, whose own message is empty.
  const errors: unknown[] = error instanceof AggregateError ? error.errors : [error]
  const messages = errors.map((one) => (one instanceof Error ? one.message : String(one)))
  return messages.join('; ').slice(0, errorCharsMax)
}

/** The header with the time and the signatures of a delivery. */
const signatureHeader = 'facegate-signature'

/**
 * Signs a delivery: `t=<seconds>,v1=<hex>` with one `v1` for each valid secret, the newest first. A
 * signature is the HMAC-SHA256 of `<seconds>.<body>` under the text of the secret. A later scheme
 * would have another name than `v1`.
 */
export function sign(body: string, secrets: readonly string[], nowMs: number): string {
  const seconds = Math.floor(nowMs / 1000)
  const signatures = secrets.map((secret) => {
    const hmac = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')
    return `v1=${hmac}`
  })
  return [`t=${seconds}`, ...signatures].join(',')
}
