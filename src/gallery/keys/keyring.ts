import { type KeyObject, createSecretKey, randomBytes } from 'node:crypto'
import { decrypt, encrypt, keyBytes } from '../../lib/crypto/aes-gcm.ts'
import { unavailable } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import type { ReadTx, Tx } from '../../store/database.ts'
import type { GalleryKeyRow, SubjectRow } from '../../store/gallery-schema.ts'
import {
  addGalleryKey,
  findCurrentMasterKeyId,
  findGalleryKey,
  findNewestGalleryKey,
} from '../../store/gallery/galleries.ts'
import { newestOf, readCurrentMasterKeys, readMasterKeys, requireKey } from './master-key-file.ts'

/** The master keys. They wrap the gallery keys and are never stored in the database. */
export type Keyring = ReturnType<typeof openKeyring>

export type WrappedByMasterKey = { readonly masterKeyId: string; readonly wrapped: Uint8Array }

/**
 * Opens the master key file. The file is read again before keys are wrapped and if a requested key
 * is missing, because another process may have rotated the keys. Data wrapped with a key that is
 * being destroyed, or that only an outdated copy of the file contains, would be lost.
 *
 * @throws Error if other users may read the file, or it contains no keys.
 */
export function openKeyring(file: string) {
  let keys = readMasterKeys(file)
  return {
    /**
     * Returns a function that wraps keys until the end of the transaction.
     *
     * @throws HttpError 503 if the file cannot be read or lacks the current master key.
     */
    wrapIn: async (tx: Tx) => {
      await tx.lock(masterKeyLock, 'shared')
      const currentId = await findCurrentMasterKeyId(tx)
      keys = orUnavailable(() => readCurrentMasterKeys(file, currentId))
      const [masterKeyId, masterKey] = newestOf(keys)
      return (key: Buffer, associatedData: string): WrappedByMasterKey => {
        return { masterKeyId, wrapped: encrypt(masterKey, key, associatedData) }
      }
    },
    /**
     * @throws HttpError 503 if the file cannot be read or does not contain the master key, and Error if
     *   the bytes were changed.
     */
    unwrap: ({ masterKeyId, wrapped }: WrappedByMasterKey, associatedData: string): Buffer => {
      const masterKey = orUnavailable(() => {
        if (!keys.has(masterKeyId)) keys = readMasterKeys(file)
        return requireKey(keys, masterKeyId, file)
      })
      return decrypt(masterKey, wrapped, associatedData)
    },
  }
}

/** A key that cannot be read now may be readable later: no data is damaged, and the call ends. */
function orUnavailable<T>(read: () => T): T {
  try {
    return read()
  } catch (cause) {
    throw unavailable('The master key cannot be read.', 5, cause)
  }
}

/**
 * The keys of subjects. Every template is encrypted with the key of its subject. A key of the gallery
 * wraps the subject key, and the master key wraps the gallery key. Deleting the row of a subject
 * destroys its key, and with it the only way to decrypt its templates.
 */
export type SubjectKeys = ReturnType<typeof createSubjectKeys>

type WrappedKey = Pick<SubjectRow, 'keyId' | 'wrappedKey'>
type SubjectIds = Pick<SubjectRow, 'subjectId' | 'galleryId'>
type KeyedSubject = Pick<SubjectRow, 'subjectId' | 'keyId' | 'wrappedKey'>

/** Locked in shared mode to wrap with a master key, in exclusive mode to remove an older one. */
export const masterKeyLock = 'master key'

export function createSubjectKeys(keyring: Keyring, nowMs: () => number) {
  const galleryKeys = createGalleryKeyCache(keyring)
  const wrap = async (tx: Tx, { subjectId, galleryId }: SubjectIds, key: Buffer) => {
    const row =
      (await findNewestGalleryKey(tx, galleryId)) ??
      (await createGalleryKey(tx, keyring, galleryId, nowMs()))
    const wrappedKey = encrypt(galleryKeys.unwrap(row), key, subjectKeyAssociatedData(subjectId))
    return { keyId: row.keyId, wrappedKey }
  }
  const unwrap = async (reading: ReadTx, { subjectId, keyId, wrappedKey }: KeyedSubject) =>
    decrypt(await galleryKeys.find(reading, keyId), wrappedKey, subjectKeyAssociatedData(subjectId))
  return {
    /** @throws Error if a key is missing or was changed. */
    unwrap,
    /** Creates a key for a new subject and wraps it with the newest key of the gallery. */
    create: async (tx: Tx, subject: SubjectIds): Promise<WrappedKey & { readonly key: Buffer }> => {
      const key = randomBytes(keyBytes)
      return { ...(await wrap(tx, subject, key)), key }
    },
    /** Wraps the same key with the newest key of the gallery. */
    rewrap: async (tx: Tx, subject: KeyedSubject): Promise<WrappedKey> => {
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
export async function createGalleryKey(tx: Tx, keyring: Keyring, galleryId: string, nowMs: number) {
  const wrap = await keyring.wrapIn(tx)
  const keyId = newId()
  const wrapped = wrap(randomBytes(keyBytes), galleryKeyAssociatedData({ keyId, galleryId }))
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
