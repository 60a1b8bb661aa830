import { createHash, createHmac, type Hash } from 'node:crypto'
import { decrypt, encrypt } from '../lib/crypto/aes-gcm.ts'

/** What makes a request this request. */
export type RequestContent = {
  readonly projectId: string
  /** In lower case. */
  readonly requestId: string
  readonly action: string
  readonly params: unknown
  readonly debug: boolean
}

/** Two independent values derived of the content: one to compare, one to lock the answer with. */
export type RequestFingerprint = { readonly hash: Buffer; readonly responseKey: Buffer }

/**
 * Hashes a request. The same content gives the same values whatever the order of its fields; who
 * knows only the stored fingerprint cannot derive the answer's key of it.
 */
export function fingerprintOf(content: RequestContent): RequestFingerprint {
  const hash = createHash('sha256')
  const { projectId, requestId, action, params, debug } = content
  updateHash(hash, [projectId, requestId, action, params, debug])
  const secret = hash.digest()
  const derive = (purpose: string): Buffer => createHmac('sha256', secret).update(purpose).digest()
  return { hash: derive('fingerprint'), responseKey: derive('answer') }
}

/**
 * Seals an answer for replays (AES-256-GCM). It holds what was seen in a picture: only somebody who
 * sends the same picture again can open it, not somebody who reads the database.
 */
export function encryptResponse(answerKey: Buffer, answer: string): Buffer {
  return encrypt(answerKey, Buffer.from(answer), 'answer')
}

/** @throws Error when the bytes were changed or the key is of other content. */
export function decryptResponse(answerKey: Buffer, sealed: Uint8Array): string {
  return decrypt(answerKey, sealed, 'answer').toString('utf8')
}

/** Every value with its kind and length before it, so that no two contents feed the same bytes. */
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
