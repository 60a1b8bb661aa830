import { createSecretKey, randomBytes, type KeyObject } from 'node:crypto'
import { decrypt, encrypt, keyBytes } from '../../lib/crypto/aes-gcm.ts'
import { newId } from '../../lib/ids.ts'
import {
  addGalleryKey,
  findGalleryKey,
  findNewestGalleryKey,
} from '../../store/gallery/galleries.ts'
import type { GalleryKeyRow, SubjectRow } from '../../store/gallery-schema.ts'
import type { ReadTx, Tx } from '../../store/database.ts'
import type { Keyring } from './keyring.ts'

/**
 * The keys of subjects. Every template is encrypted with the key of its subject. A key of the gallery
 * wraps the subject key, and the master key wraps the gallery key. Deleting the row of a subject
 * destroys its key, and with it the only way to decrypt its templates.
 */
export type SubjectKeys = {
  /** Creates a key for a new subject and wraps it with the newest key of the gallery. */
  readonly create: (tx: Tx, subject: SubjectIds) => Promise<WrappedKey & { readonly key: Buffer }>
  /** @throws Error if a key is missing or was changed. */
  readonly unwrap: (reading: ReadTx, subject: KeyedSubject) => Promise<Buffer>
  /** Wraps the same key with the newest key of the gallery. */
  readonly rewrap: (tx: Tx, subject: KeyedSubject) => Promise<WrappedKey>
}

export type WrappedKey = Pick<SubjectRow, 'keyId' | 'wrappedKey'>
type SubjectIds = Pick<SubjectRow, 'subjectId' | 'galleryId'>
export type KeyedSubject = Pick<SubjectRow, 'subjectId' | 'keyId' | 'wrappedKey'>

/** Locked in shared mode to wrap with a master key, in exclusive mode to remove an older one. */
export const masterKeyLock = 'master key'

export function createSubjectKeys(keyring: Keyring, nowMs: () => number): SubjectKeys {
  const galleryKeys = createGalleryKeyCache(keyring)
  const wrap = async (
    tx: Tx,
    { subjectId, galleryId }: SubjectIds,
    key: Buffer,
  ): Promise<WrappedKey> => {
    const row =
      (await findNewestGalleryKey(tx, galleryId)) ??
      (await createGalleryKey(tx, keyring, galleryId, nowMs()))
    const wrappedKey = encrypt(galleryKeys.unwrap(row), key, subjectKeyAssociatedData(subjectId))
    return { keyId: row.keyId, wrappedKey }
  }
  const unwrap: SubjectKeys['unwrap'] = async (reading, { subjectId, keyId, wrappedKey }) =>
    decrypt(await galleryKeys.find(reading, keyId), wrappedKey, subjectKeyAssociatedData(subjectId))
  return {
    unwrap,
    create: async (tx, subject) => {
      const key = randomBytes(keyBytes)
      return { ...(await wrap(tx, subject, key)), key }
    },
    rewrap: async (tx, subject) => {
      const { subjectId, keyId } = subject
      const galleryId = (await findGalleryKey(tx, keyId))?.galleryId ?? ''
      return wrap(tx, { subjectId, galleryId }, await unwrap(tx, subject))
    },
  }
}

/** Keeps unwrapped gallery keys, so that each is read and unwrapped once. */
export function createGalleryKeyCache(keyring: Keyring) {
  const keyById = new Map<string, KeyObject>()
  const unwrap = (row: GalleryKeyRow): KeyObject => {
    const cached = keyById.get(row.keyId)
    if (cached) return cached
    const bytes = unwrapGalleryKey(keyring, row)
    const key = createSecretKey(bytes)
    bytes.fill(0)
    keyById.set(row.keyId, key)
    return key
  }
  const find = async (reading: ReadTx, keyId: string): Promise<KeyObject> => {
    const cached = keyById.get(keyId)
    if (cached) return cached
    const row = await findGalleryKey(reading, keyId)
    if (!row) throw new Error(`gallery key ${keyId} does not exist in the database`)
    return unwrap(row)
  }
  return { unwrap, find }
}

/** Creates the newest key of a gallery, wrapped with the newest master key. */
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

/** @throws Error if the master key that wrapped it is not in the file. */
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
