import { createSecretKey, randomBytes } from 'node:crypto'
import { decrypt, encrypt, keyBytes } from '../../lib/crypto/aes-gcm.ts'
import type { GalleryPageRow } from '../../store/gallery-schema.ts'
import { findNewestGalleryKey } from '../../store/gallery/galleries.ts'
import type { ReadTx } from '../../store/database.ts'
import { type Keyring, createGalleryKeyCache } from './keyring.ts'

/** The range, models and account that a page is bound to. */
export type PageBinding = Omit<GalleryPageRow, 'keyId' | 'wrappedKey' | 'ciphertext'> & {
  readonly accountId: string
}

/**
 * The encryption of pages. Each page has a separate key, which a key of the gallery wraps. Deleting
 * the row of a page destroys its key.
 */
export type PageEncryption = ReturnType<typeof createPageEncryption>

export function createPageEncryption(keyring: Keyring) {
  const galleryKeys = createGalleryKeyCache(keyring)
  return {
    /** Encrypts a page with a new key. @returns undefined if the gallery has no key. */
    encrypt: async (reading: ReadTx, { accountId, ...page }: PageBinding, plain: ArrayBuffer) => {
      const row = await findNewestGalleryKey(reading, page.galleryId)
      if (!row) return undefined
      const key = randomBytes(keyBytes)
      const boundTo = associatedData({ ...page, accountId })
      const wrappedKey = encrypt(galleryKeys.unwrap(row), key, `key|${boundTo}`)
      const ciphertext = encrypt(createSecretKey(key), new Uint8Array(plain), boundTo)
      key.fill(0)
      return { ...page, keyId: row.keyId, wrappedKey, ciphertext }
    },
    /**
     * @throws Error if a key is missing, the bytes were changed, or they belong to another range.
     */
    decrypt: async (reading: ReadTx, accountId: string, page: GalleryPageRow) => {
      const boundTo = associatedData({ ...page, accountId })
      const galleryKey = await galleryKeys.find(reading, page.keyId)
      const key = decrypt(galleryKey, page.wrappedKey, `key|${boundTo}`)
      try {
        return wholeBuffer(decrypt(key, page.ciphertext, boundTo))
      } finally {
        key.fill(0)
      }
    },
  }
}

/** Returns the bytes in a separate buffer, which can be sent to another thread. */
function wholeBuffer(plain: Buffer): ArrayBuffer {
  const { buffer, byteOffset, length } = plain
  if (buffer instanceof ArrayBuffer && byteOffset === 0 && length === buffer.byteLength)
    return buffer
  const copy = new Uint8Array(plain).buffer
  plain.fill(0)
  return copy
}

/** Begins with the kind, so that no other ciphertext can replace a page. */
function associatedData(binding: PageBinding): string {
  const { accountId, galleryId, afterSequence, toSequence, faces, modelIds } = binding
  return ['page', accountId, galleryId, afterSequence, toSequence, faces, modelIds].join('|')
}
