import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

/** A key is `fsk_live_` or `fsk_test_`, 43 URL-safe characters (256 bits), 6 checksum characters. */
const keyPattern = /^fsk_(?:live|test)_[A-Za-z0-9_-]{43}[0-9A-Za-z]{6}$/u
const checksumLength = 6
const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Generates a key from the random source of the system. Store only its hash. */
export function generateApiKey(mode: 'live' | 'test'): string {
  return appendChecksum(`fsk_${mode}_${randomBytes(32).toString('base64url')}`)
}

export function appendChecksum(body: string): string {
  return body + checksum(body)
}

/** Whether the text is a well-formed key. Detects mistyped or truncated keys without a lookup. */
export function isApiKey(text: string): boolean {
  return keyPattern.test(text) && text.endsWith(checksum(text.slice(0, -checksumLength)))
}

/** SHA-256 of the key, 32 bytes. 256 random bits need no salt and no slow hash. */
export function hashApiKey(key: string): Buffer {
  return hash('sha256', key, 'buffer')
}

/** CRC-32 in base 62, padded: 62^6 exceeds 2^32, so six characters hold every value. */
function checksum(body: string): string {
  let rest = crc32(body)
  let text = ''
  for (let digit = 0; digit < checksumLength; digit++) {
    text = `${base62[rest % 62] ?? ''}${text}`
    rest = Math.floor(rest / 62)
  }
  return text
}
