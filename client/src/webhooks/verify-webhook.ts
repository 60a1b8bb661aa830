import type { WebhookEvent } from './webhook-event.ts'

/** The request was not signed with the secret, or is too old. Reply with a status of 400. */
export class WebhookSignatureError extends Error {
  override readonly name = 'WebhookSignatureError'
}

export type WebhookToVerify = {
  /** The body as it was received, before it is parsed: the signature is that of its bytes. */
  readonly body: string | Uint8Array | ArrayBuffer
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
 * @throws TypeError if the body was parsed, or a secret is empty, or the tolerance is no number: an error
 *   of the program.
 */
export async function verifyWebhook(request: WebhookToVerify): Promise<WebhookEvent> {
  const { secret, nowMs = Date.now() } = request
  const toleranceS = requireTolerance(request.toleranceS)
  const body = toBytes(requireRawBody(request.body))
  const secrets = requireSecrets(secret)
  const { seconds, signatures } = parseSignature(request.signature)
  const signed = concat(toBytes(`${seconds}.`), body)
  let isValid = false
  for (const text of secrets) {
    const key = await importKey(text)
    for (const signature of signatures)
      // WebCrypto compares in constant time.
      if (await crypto.subtle.verify('HMAC', key, signature, signed)) isValid = true
  }
  if (!isValid) throw new WebhookSignatureError('no signature of the webhook matches the secret')
  // A comparison with NaN is false: such a time must not accept every age.
  if (!(Math.abs(nowMs / 1000 - seconds) <= toleranceS))
    throw new WebhookSignatureError(`the webhook was sent more than ${toleranceS} s ago, or later`)
  // The signature shows that the service has written it.
  return JSON.parse(new TextDecoder().decode(body)) as WebhookEvent
}

/** A variable of the environment that is not set becomes NaN, with which every age would be accepted. */
function requireTolerance(toleranceS: unknown = 300): number {
  if (typeof toleranceS === 'number' && toleranceS >= 0) return toleranceS
  throw new TypeError('toleranceS: must be a number of seconds, 0 or more')
}

/** Programs in JavaScript can pass anything. */
function requireRawBody(body: unknown): WebhookToVerify['body'] {
  if (typeof body === 'string') return body
  // Other contexts, such as those of test runners, have their own Uint8Array and ArrayBuffer.
  const kind: string = Object.prototype.toString.call(body)
  if (kind === '[object Uint8Array]' || kind === '[object ArrayBuffer]')
    return body as Uint8Array | ArrayBuffer
  throw new TypeError(
    'body: must be the raw bytes or the text of the request, before it is parsed; with Express use express.raw({ type: "application/json" })',
  )
}

function requireSecrets(secret: unknown): readonly string[] {
  const secrets: readonly unknown[] = Array.isArray(secret) ? secret : [secret]
  if (secrets.length > 0 && secrets.every((text) => typeof text === 'string' && text !== ''))
    return secrets as readonly string[]
  throw new TypeError('secret: must be the signing secret of the webhook, and is empty or no text')
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

function toBytes(content: WebhookToVerify['body']): Bytes {
  if (typeof content === 'string') return new TextEncoder().encode(content)
  return 'length' in content ? Uint8Array.from(content) : new Uint8Array(content)
}

function concat(first: Bytes, second: Bytes): Bytes {
  const joined = new Uint8Array(first.length + second.length)
  joined.set(first)
  joined.set(second, first.length)
  return joined
}
