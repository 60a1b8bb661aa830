import { createHash, createHmac, createSecretKey, hash, type Hash } from 'node:crypto'
import { decrypt, encrypt } from '../lib/crypto/aes-gcm.ts'

/** The content that identifies a request: a retry has the same content. */
export type RequestContent = {
  readonly projectId: string
  /** In lower case. */
  readonly requestId: string
  readonly action: string
  readonly params: unknown
  readonly debug: boolean
  readonly replayScope?: string | undefined
}

/** Two independent values derived from the content: one to compare, one to encrypt the response. */
export type RequestFingerprint = { readonly hash: Buffer; readonly responseKey: Buffer }

/**
 * Hashes a request. The order of the fields does not change the result. The response key cannot be
 * derived from the stored hash.
 */
export function fingerprintOf(content: RequestContent): RequestFingerprint {
  const { projectId, requestId, action, params, debug, replayScope } = content
  const text = createHashText()
  const scope = replayScope === undefined ? [] : [replayScope]
  addValue(text, [projectId, requestId, action, params, debug, ...scope])
  // Node takes three times as long for a secret that is passed as a buffer.
  const secret = createSecretKey(text.digest())
  const derive = (purpose: string): Buffer => createHmac('sha256', secret).update(purpose).digest()
  return { hash: derive('fingerprint'), responseKey: derive('response') }
}

/**
 * Encrypts a response for replays (AES-256-GCM). The response describes an image. Only a request
 * with the same image yields the key; the contents of the database do not.
 */
export function encryptResponse(responseKey: Buffer, response: string): Buffer {
  return encrypt(responseKey, Buffer.from(response), 'response')
}

/** @throws Error when the bytes were changed or the key belongs to other content. */
export function decryptResponse(responseKey: Buffer, encrypted: Uint8Array): string {
  return decrypt(responseKey, encrypted, 'response').toString('utf8')
}

/** A text that is hashed in parts. */
type HashText = ReturnType<typeof createHashText>

/** A longer part is hashed without a copy; an image has megabytes. */
const joinedCharsMax = 4096
/**
 * Node reserves three bytes per character of a part: 22 MB at once take seven times as long. Only base64
 * is longer, so that no part ends inside a character.
 */
const sliceCharsMax = 1024 * 1024

/** Joins short parts: a hash of one text takes a third of the time of a hash of twenty. */
function createHashText() {
  let sha256: Hash | undefined
  let joined = ''
  return {
    add: (part: string): void => {
      if (joined.length + part.length <= joinedCharsMax) {
        joined += part
        return
      }
      sha256 ??= createHash('sha256')
      sha256.update(joined, 'utf8')
      joined = ''
      for (let from = 0; from < part.length; from += sliceCharsMax)
        sha256.update(part.slice(from, from + sliceCharsMax), 'utf8')
    },
    // One function call for a short text creates no object that must be collected later.
    digest: () => sha256?.update(joined, 'utf8').digest() ?? hash('sha256', joined, 'buffer'),
  }
}

/** Prefixes each value with its type and length, so that different contents give different bytes. */
function addValue(text: HashText, value: unknown): void {
  if (typeof value === 'string') {
    text.add(`s${value.length}:`)
    text.add(value)
  } else if (Array.isArray(value)) {
    text.add(`a${value.length}:`)
    for (const item of value) addValue(text, item)
  } else if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
    text.add(`o${entries.length}:`)
    for (const [name, field] of entries) {
      addValue(text, name)
      addValue(text, field)
    }
  } else {
    text.add(`${String(value)};`)
  }
}
