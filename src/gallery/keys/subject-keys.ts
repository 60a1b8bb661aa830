import { hkdfSync, randomBytes } from 'node:crypto'
import { decrypt, encrypt, keyBytes } from '../../lib/crypto/aes-gcm.ts'
import { newId } from '../../lib/ids.ts'
import {
  addGalleryKey,
  findGalleryKey,
  findNewestGalleryKey,
} from '../../store/gallery/galleries.ts'
import type { GalleryKeyRow, SubjectRow } from '../../store/schema.ts'
import type { ReadTx, Tx } from '../../store/tx.ts'
import type { Keyring } from './keyring.ts'

/**
 * The keys of subjects. Every template is encrypted under its subject's key; that is wrapped by a
 * key of the gallery, and that by the master key. Who deletes the subject's row has destroyed the
 * only way to its templates.
 */
export type SubjectKeys = {
  /** A key for a new subject, wrapped by the gallery's newest key. */
  readonly create: (tx: Tx, subject: SubjectIds) => Promise<WrappedKey & { readonly key: Buffer }>
  /** @throws Error when a key is missing or was changed. */
  readonly unwrap: (reading: ReadTx, subject: KeyedSubject) => Promise<Buffer>
  /** The same key under the gallery's newest. */
  readonly rewrap: (tx: Tx, subject: KeyedSubject) => Promise<WrappedKey>
  /** A secret of 32 bytes for a purpose, derived from a gallery's key: it goes when that goes. */
  readonly derive: (reading: ReadTx, keyId: string, purpose: string) => Promise<Buffer>
}

export type WrappedKey = Pick<SubjectRow, 'keyId' | 'wrappedKey'>
type SubjectIds = Pick<SubjectRow, 'subjectId' | 'galleryId'>
export type KeyedSubject = Pick<SubjectRow, 'subjectId' | 'keyId' | 'wrappedKey'>

/** Held together by who wraps by the master key, alone by who takes an older one away. */
export const masterKeyLock = 'master key'

export function createSubjectKeys(keyring: Keyring, nowMs: () => number): SubjectKeys {
  /** Keys of galleries that were unwrapped before: one step of two is spared. */
  const opened = new Map<string, Buffer>()
  const keys: SubjectKeys = {
    create: async (tx, { subjectId, galleryId }) => {
      const key = randomBytes(keyBytes)
      return { ...(await wrap(tx, galleryId, subjectId, key)), key }
    },
    unwrap: async (reading, { subjectId, keyId, wrappedKey }) => {
      return decrypt(
        await galleryKey(reading, keyId),
        wrappedKey,
        subjectKeyAssociatedData(subjectId),
      )
    },
    rewrap: async (tx, subject) => {
      const galleryId = (await findGalleryKey(tx, subject.keyId))?.galleryId ?? ''
      return wrap(tx, galleryId, subject.subjectId, await keys.unwrap(tx, subject))
    },
    derive: async (reading, keyId, purpose) => {
      const key = await galleryKey(reading, keyId)
      return Buffer.from(hkdfSync('sha256', key, '', purpose, keyBytes))
    },
  }
  return keys

  async function galleryKey(reading: ReadTx, keyId: string): Promise<Buffer> {
    const known = opened.get(keyId)
    if (known) return known
    const row = await findGalleryKey(reading, keyId)
    if (!row) throw new Error(`there is no key ${keyId}`)
    return remember(row)
  }

  async function wrap(
    tx: Tx,
    galleryId: string,
    subjectId: string,
    key: Buffer,
  ): Promise<WrappedKey> {
    const row =
      (await findNewestGalleryKey(tx, galleryId)) ??
      (await createGalleryKey(tx, keyring, galleryId, nowMs()))
    const wrappedKey = encrypt(remember(row), key, subjectKeyAssociatedData(subjectId))
    return { keyId: row.keyId, wrappedKey }
  }

  function remember(row: GalleryKeyRow): Buffer {
    const known = opened.get(row.keyId)
    if (known) return known
    const key = unwrapGalleryKey(keyring, row)
    opened.set(row.keyId, key)
    return key
  }
}

/** Makes a key for a gallery under the newest master key; from now on it is the gallery's newest. */
export async function createGalleryKey(
  tx: Tx,
  keyring: Keyring,
  galleryId: string,
  nowMs: number,
): Promise<GalleryKeyRow> {
  await tx.lock(masterKeyLock, 'shared')
  const keyId = newId()
  const wrapped = keyring.wrap(
    randomBytes(keyBytes),
    galleryKeyAssociatedData({ keyId, galleryId }),
  )
  const row = { keyId, galleryId, ...wrapped, createdAtMs: nowMs }
  await addGalleryKey(tx, row)
  return row
}

/** @throws Error when the master key that wrapped it is not at hand. */
export function unwrapGalleryKey(keyring: Keyring, row: GalleryKeyRow): Buffer {
  return keyring.unwrap(row, galleryKeyAssociatedData(row))
}

function galleryKeyAssociatedData({
  keyId,
  galleryId,
}: Pick<GalleryKeyRow, 'keyId' | 'galleryId'>) {
  return `gallery-key|${galleryId}|${keyId}`
}

function subjectKeyAssociatedData(subjectId: string): string {
  return `subject-key|${subjectId}`
}
