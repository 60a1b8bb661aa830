import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

export const keyBytes = 32
const nonceBytes = 12
const tagBytes = 16

/**
 * Encrypts with AES-256-GCM under a fresh random nonce.
 *
 * @param boundTo what the ciphertext belongs to: it opens only with the same text.
 * @returns nonce (12 bytes), tag (16), ciphertext.
 */
export function encrypt(key: Buffer, plain: Uint8Array, boundTo: string): Buffer {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(boundTo))
  const text = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), text])
}

/** @throws Error when a bit was changed, or the key or what it is bound to is another. */
export function decrypt(key: Buffer, sealed: Uint8Array, boundTo: string): Buffer {
  const nonce = sealed.subarray(0, nonceBytes)
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes })
  decipher.setAAD(Buffer.from(boundTo))
  decipher.setAuthTag(sealed.subarray(nonceBytes, nonceBytes + tagBytes))
  const text = decipher.update(sealed.subarray(nonceBytes + tagBytes))
  return Buffer.concat([text, decipher.final()])
}
