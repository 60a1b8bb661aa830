import { createHash, createHmac, createSecretKey, type Hash } from 'node:crypto'
import { decrypt, encrypt } from '../lib/crypto/aes-gcm.ts'

/** The content that identifies a request: a retry has the same content. */
export type RequestContent = {
  readonly projectId: string
  /** In lower case. */
  readonly requestId: string
  readonly action: string
  readonly params: unknown
  readonly debug: boolean
}

/** Two independent values derived from the content: one to compare, one to encrypt the response. */
export type RequestFingerprint = { readonly hash: Buffer; readonly responseKey: Buffer }

/**
 * Hashes a request. The order of the fields does not change the result. The response key cannot be
 * derived from the stored hash.
 */
export function fingerprintOf(content: RequestContent): RequestFingerprint {
  const hash = createHash('sha256')
  const { projectId, requestId, action, params, debug } = content
  updateHash(hash, [projectId, requestId, action, params, debug])
  // Node takes three times as long for a secret that is passed as a buffer.
  const secret = createSecretKey(hash.digest())
  const derive = (purpose: string): Buffer => createHmac('sha256', secret).update(purpose).digest()
  return { hash: derive('fingerprint'), responseKey: derive('answer') }
}

/**
 * Encrypts a response for replays (AES-256-GCM). The response describes an image. Only a request
 * with the same image yields the key; the contents of the database do not.
 */
export function encryptResponse(responseKey: Buffer, response: string): Buffer {
  return encrypt(responseKey, Buffer.from(response), 'answer')
}

/** @throws Error when the bytes were changed or the key belongs to other content. */
export function decryptResponse(responseKey: Buffer, encrypted: Uint8Array): string {
  return decrypt(responseKey, encrypted, 'answer').toString('utf8')
}

/** Prefixes each value with its type and length, so that different contents give different bytes. */
function updateHash(hash: Hash, value: unknown): void {
  if (typeof value === 'string') {
    hash.update(`s${value.length}:`).update(value, 'utf8')
  } else if (Array.isArray(value)) {
    hash.update(`a${value.length}:`)
    for (const item of value) updateHash(hash, item)
  } else if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
    hash.update(`o${entries.length}:`)
    for (const entry of entries.flat()) updateHash(hash, entry)
  } else {
    hash.update(`${String(value)};`)
  }
}
