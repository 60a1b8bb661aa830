import { hash } from 'node:crypto'

const blockBytes = 64
const digestBytes = 32

/**
 * Returns HMAC-SHA-256 (RFC 2104) with a secret of 32 bytes, for messages of a few characters. Two
 * hashes take half the time of the objects that Node creates for a key and for each HMAC.
 */
export function createHmac(secret: Buffer): (message: string) => Buffer {
  if (secret.length !== digestBytes) throw new RangeError('the secret must have 32 bytes')
  const inner = Buffer.alloc(blockBytes, 0x36)
  const outer = Buffer.alloc(blockBytes + digestBytes, 0x5c)
  for (const [index, byte] of secret.entries()) {
    inner[index] = byte ^ 0x36
    outer[index] = byte ^ 0x5c
  }
  return (message) => {
    hash('sha256', Buffer.concat([inner, Buffer.from(message)]), 'buffer').copy(outer, blockBytes)
    return hash('sha256', outer, 'buffer')
  }
}
