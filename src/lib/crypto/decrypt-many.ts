import { createCipheriv, type KeyObject } from 'node:crypto'
import { nonceBytes, tagBytes } from './aes-gcm.ts'
import { createHashKey, createHashMessage, type HashMessage } from './ghash.ts'

/**
 * Decrypts many short ciphertexts of `encrypt` with one key. Node needs a cipher object for each
 * ciphertext, which takes several microseconds. Here one call encrypts the counters of all of them,
 * and only the tags are computed one by one (NIST SP 800-38D).
 */
export type DecryptMany = (items: readonly BoundCiphertext[]) => (Buffer | undefined)[]

/** A ciphertext with the text to which it is bound. */
export type BoundCiphertext = { readonly encrypted: Uint8Array; readonly boundTo: string }

const blockBytes = 16
const headBytes = nonceBytes + tagBytes

/**
 * The returned function returns the plain bytes of each item; undefined if a bit was changed, or the
 * key or `boundTo` is different.
 *
 * @param key an AES-256 key.
 */
export function createDecryptMany(key: KeyObject): DecryptMany {
  const hashMessage = createHashMessage(createHashKey(encryptBlocks(key, Buffer.alloc(blockBytes))))
  return (items) => {
    const masks = encryptBlocks(key, writeCounters(items))
    const plain = Buffer.alloc(items.reduce((sum, item) => sum + plainBytes(item), 0))
    let maskOffset = 0
    let plainOffset = 0
    const results = items.map((item) => {
      const text = plain.subarray(plainOffset, (plainOffset += plainBytes(item)))
      const mask = masks.subarray(maskOffset, (maskOffset += counterBytes(item)))
      if (!hasTag(hashMessage, item, mask)) return undefined
      for (let index = 0; index < text.length; index++)
        text[index] = (item.encrypted[headBytes + index] ?? 0) ^ (mask[blockBytes + index] ?? 0)
      return text
    })
    masks.fill(0)
    return results
  }
}

function encryptBlocks(key: KeyObject, blocks: Buffer): Buffer {
  const cipher = createCipheriv('aes-256-ecb', key, null)
  cipher.setAutoPadding(false)
  const encrypted = cipher.update(blocks)
  cipher.final()
  return encrypted
}

function plainBytes({ encrypted }: BoundCiphertext): number {
  return Math.max(0, encrypted.length - headBytes)
}

/** Returns the bytes of the counters of an item: one for its tag, and one for each block. */
function counterBytes(item: BoundCiphertext): number {
  return (1 + Math.ceil(plainBytes(item) / blockBytes)) * blockBytes
}

function writeCounters(items: readonly BoundCiphertext[]): Buffer {
  const counters = Buffer.alloc(items.reduce((sum, item) => sum + counterBytes(item), 0))
  let offset = 0
  for (const item of items) {
    const end = offset + counterBytes(item)
    for (let count = 1; offset < end; count++) {
      for (let index = 0; index < nonceBytes; index++)
        counters[offset + index] = item.encrypted[index] ?? 0
      counters.writeUInt32BE(count, offset + nonceBytes)
      offset += blockBytes
    }
  }
  return counters
}

/** Whether the tag of an item is correct. The mask of the tag is the first block. */
function hasTag(
  hashMessage: HashMessage,
  { encrypted, boundTo }: BoundCiphertext,
  mask: Buffer,
): boolean {
  if (encrypted.length < headBytes) return false
  const hash = hashMessage(boundTo, encrypted.subarray(headBytes))
  let difference = 0
  for (let index = 0; index < tagBytes; index++) {
    const hashByte = (hash[index >> 2] ?? 0) >>> (24 - 8 * (index & 3))
    const tagByte = encrypted[nonceBytes + index] ?? 0
    difference |= (hashByte & 0xff) ^ (mask[index] ?? 0) ^ tagByte
  }
  return difference === 0
}
