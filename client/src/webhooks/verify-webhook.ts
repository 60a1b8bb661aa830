import type { WebhookEvent } from './webhook-event.ts'

/** The request was not signed with the secret, or is too old. Reply with a status of 400. */
export class WebhookSignatureError extends Error {
  override readonly name = 'WebhookSignatureError'
}

export type WebhookToVerify = {
  /** The body as it was received, before it is parsed. */
  readonly body: string | Uint8Array
  /** The header `Facegate-Signature`. */
  readonly signature: string | null | undefined
  /** The signing secret, or several of them. */
  readonly secret: string | readonly string[]
  /** Maximum difference between the clocks and duration of the request; by default 300 seconds. */
  readonly toleranceS?: number
  /** The current time, for tests. */
  readonly nowMs?: number
}

/**
 * Returns the event of a webhook request.
 *
 * @throws WebhookSignatureError unless a signature matches a secret and the request is recent.
 */
export async function verifyWebhook(request: WebhookToVerify): Promise<WebhookEvent> {
  const { secret, toleranceS = 300, nowMs = Date.now() } = request
  const { seconds, signatures } = parseSignature(request.signature)
  const body = toBytes(request.body)
  const signed = concat(toBytes(`${seconds}.`), body)
  const secrets = typeof secret === 'string' ? [secret] : secret
  let isValid = false
  for (const text of secrets) {
    const key = await importKey(text)
    for (const signature of signatures)
      // WebCrypto compares in constant time.
      if (await crypto.subtle.verify('HMAC', key, signature, signed)) isValid = true
  }
  if (!isValid) throw new WebhookSignatureError('no signature of the webhook matches the secret')
  if (Math.abs(nowMs / 1000 - seconds) > toleranceS)
    throw new WebhookSignatureError(`the webhook was sent more than ${toleranceS} s ago, or later`)
  // The signature shows that the service has written it.
  return JSON.parse(new TextDecoder().decode(body)) as WebhookEvent
}

type Bytes = Uint8Array<ArrayBuffer>

/** `t=<seconds>,v1=<hex>`, with one `v1` per secret. Unknown parts belong to later schemes. */
function parseSignature(header: string | null | undefined): {
  readonly seconds: number
  readonly signatures: readonly Bytes[]
} {
  const parts = (header ?? '').split(',').map((part) => part.trim())
  const time = parts.find((part) => /^t=\d{1,12}$/u.test(part))
  const signatures = parts.filter((part) => /^v1=[0-9a-f]{64}$/u.test(part)).slice(0, signaturesMax)
  if (!time || signatures.length === 0)
    throw new WebhookSignatureError('the header Facegate-Signature is missing or malformed')
  return { seconds: Number(time.slice(2)), signatures: signatures.map((part) => fromHex(part)) }
}

const signaturesMax = 10

function importKey(secret: string) {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  return crypto.subtle.importKey('raw', toBytes(secret), algorithm, false, ['verify'])
}

/** @param part `v1=` and 64 hexadecimal digits. */
function fromHex(part: string): Bytes {
  const bytes = new Uint8Array(32)
  for (let at = 0; at < bytes.length; at++)
    bytes[at] = Number.parseInt(part.slice(3 + 2 * at, 5 + 2 * at), 16)
  return bytes
}

function toBytes(content: string | Uint8Array): Bytes {
  return typeof content === 'string' ? new TextEncoder().encode(content) : Uint8Array.from(content)
}

function concat(first: Bytes, second: Bytes): Bytes {
  const joined = new Uint8Array(first.length + second.length)
  joined.set(first)
  joined.set(second, first.length)
  return joined
}
