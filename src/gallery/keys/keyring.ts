import { type KeyObject, createSecretKey, randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import path from 'node:path'
import { decrypt, encrypt, keyBytes } from '../../lib/crypto/aes-gcm.ts'
import { unavailable } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import type { ReadTx, Tx } from '../../store/database.ts'
import type { GalleryKeyRow, SubjectRow } from '../../store/gallery-schema.ts'
import {
  addGalleryKey,
  findGalleryKey,
  findNewestGalleryKey,
} from '../../store/gallery/galleries.ts'

/** The master keys. They wrap the gallery keys and are never stored in the database. */
export type Keyring = ReturnType<typeof openKeyring>

export type WrappedByMasterKey = { readonly masterKeyId: string; readonly wrapped: Uint8Array }

/** Id → key. The first key is the newest. There are two keys only during a key rotation. */
type MasterKeys = ReadonlyMap<string, Buffer>

/**
 * Opens the master key file. The file is read again before a key is wrapped and if a requested key
 * is missing, because another process may have rotated the keys. Data wrapped with a key that is
 * being destroyed would be lost.
 *
 * @throws Error if other users may read the file, or it contains no keys.
 */
export function openKeyring(file: string) {
  let keys = readMasterKeys(file)
  return {
    /** @throws HttpError 503 if the file cannot be read. */
    wrap: (key: Buffer, associatedData: string): WrappedByMasterKey => {
      keys = orUnavailable(() => readMasterKeys(file))
      const [newest] = keys
      if (!newest) throw new Error(`${file} contains no master key`)
      const [masterKeyId, masterKey] = newest
      return { masterKeyId, wrapped: encrypt(masterKey, key, associatedData) }
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

function requireKey(keys: MasterKeys, id: string, file: string): Buffer {
  const key = keys.get(id)
  if (!key) throw new Error(`the master key ${id} is not in ${file}`)
  return key
}

/** Returns whether the file can be read and contains a key. */
export function isMasterKeyReadable(file: string): boolean {
  try {
    readMasterKeys(file)
    return true
  } catch {
    return false
  }
}

/** Creates the file with a first key, unless it exists. @returns whether it was created. */
export function createMasterKeyFile(file: string): boolean {
  if (fs.existsSync(file)) return false
  // With PostgreSQL, the data folder may not exist yet.
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
  replaceMasterKeys(file, new Map([newMasterKey()]))
  return true
}

/** Returns the id of the key that wraps new keys. */
export function newestMasterKeyId(file: string): string {
  const [id] = readMasterKeys(file).keys()
  if (id === undefined) throw new Error(`${file} contains no master key`)
  return id
}

/**
 * Returns the id of the newest key, to which a prepared rotation changes.
 *
 * @throws Error if the file has no other key: then `addMasterKey` has not prepared it.
 */
export function preparedMasterKeyId(file: string): string {
  if (readMasterKeys(file).size > 1) return newestMasterKeyId(file)
  throw new Error(
    `${file} has no prepared key, only one master key; nothing was changed: run facegate key add-master, ` +
      'distribute the file to every server, then run this command again',
  )
}

/** Adds a new key, which wraps all keys from now on. @returns its id. */
export function addMasterKey(file: string): string {
  const [id, key] = newMasterKey()
  replaceMasterKeys(file, new Map([[id, key], ...readMasterKeys(file)]))
  return id
}

/** Destroys all other keys. Data that they wrapped can never be decrypted again. */
export function destroyOtherMasterKeys(file: string, id: string): void {
  replaceMasterKeys(file, new Map([[id, requireKey(readMasterKeys(file), id, file)]]))
}

function newMasterKey(): [string, Buffer] {
  return [newId(), randomBytes(keyBytes)]
}

function readMasterKeys(file: string): MasterKeys {
  if (!fs.existsSync(file))
    throw new Error(
      `there is no master key in ${file}: restore the file from its copy, or set MASTER_KEY_FILE; on ` +
        'PostgreSQL, copy the file of another server: all servers of a database have the same one',
    )
  const descriptor = fs.openSync(file, 'r')
  try {
    if (process.platform !== 'win32' && isExposed(fs.fstatSync(descriptor)))
      throw new Error(`others may read the master key: run chmod 600 ${file}`)
    const lines = fs.readFileSync(descriptor, 'utf8').split('\n').filter(Boolean)
    const keys = new Map(lines.map((line) => parseLine(line, file)))
    if (keys.size === 0) throw new Error(`${file} contains no master key`)
    return keys
  } finally {
    fs.closeSync(descriptor)
  }
}

/**
 * Only the owner may read the file. If root owns it, its group may read it too, but not change it:
 * this is how a process that does not run as root receives a mounted secret.
 */
function isExposed({ mode, uid }: Pick<fs.Stats, 'mode' | 'uid'>): boolean {
  return (mode & (uid === 0 ? 0o037 : 0o077)) !== 0
}

/** A line contains the id of a key and its 32 bytes in base64. */
function parseLine(line: string, file: string): [string, Buffer] {
  const [id = '', text = ''] = line.split(' ')
  const key = Buffer.from(text, 'base64')
  if (key.length !== keyBytes) throw new Error(`${file} is not a master key file`)
  return [id, key]
}

/**
 * Replaces the file in one step, then overwrites the bytes of the old file with zeros. A link is
 * followed, and the new file has the owner, the group and the mode of the old one.
 */
function replaceMasterKeys(linkOrFile: string, keys: MasterKeys): void {
  const isReplaced = fs.existsSync(linkOrFile)
  const file = isReplaced ? fs.realpathSync(linkOrFile) : linkOrFile
  const oldFile = isReplaced ? fs.openSync(file, 'r+') : undefined
  const text = [...keys].map(([id, key]) => `${id} ${key.toString('base64')}\n`).join('')
  const newFile = `${file}.new`
  try {
    fs.writeFileSync(newFile, text, { mode: 0o600, flush: true })
    if (oldFile !== undefined) copyAccess(fs.fstatSync(oldFile), newFile)
    fs.renameSync(newFile, file)
  } catch (error) {
    fs.rmSync(newFile, { force: true })
    throw error
  }
  syncFolder(path.dirname(file))
  if (oldFile === undefined) return
  fs.writeSync(oldFile, Buffer.alloc(fs.fstatSync(oldFile).size), 0, undefined, 0)
  fs.fsyncSync(oldFile)
  fs.closeSync(oldFile)
}

function copyAccess({ uid, gid, mode }: fs.Stats, file: string): void {
  if (process.platform === 'win32') return
  fs.chownSync(file, uid, gid)
  fs.chmodSync(file, mode & 0o777)
}

/** A rename is durable only after its folder was written to disk. */
function syncFolder(folder: string): void {
  if (process.platform === 'win32') return
  const descriptor = fs.openSync(folder, 'r')
  fs.fsyncSync(descriptor)
  fs.closeSync(descriptor)
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
