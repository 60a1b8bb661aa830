import { randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
  type Stats,
} from 'node:fs'
import path from 'node:path'
import { decrypt, encrypt, keyBytes } from '../../lib/crypto/aes-gcm.ts'
import { newId } from '../../lib/ids.ts'

/** The master keys. They wrap the gallery keys and are never stored in the database. */
export type Keyring = {
  readonly wrap: (key: Buffer, associatedData: string) => WrappedByMasterKey
  /** @throws Error if the file does not contain the master key, or the bytes were changed. */
  readonly unwrap: (wrapped: WrappedByMasterKey, associatedData: string) => Buffer
}

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
export function openKeyring(file: string): Keyring {
  let keys = readMasterKeys(file)
  return {
    wrap: (key, associatedData) => {
      keys = readMasterKeys(file)
      const [newest] = keys
      if (!newest) throw new Error(`${file} contains no master key`)
      const [masterKeyId, masterKey] = newest
      return { masterKeyId, wrapped: encrypt(masterKey, key, associatedData) }
    },
    unwrap: ({ masterKeyId, wrapped }, associatedData) => {
      if (!keys.has(masterKeyId)) keys = readMasterKeys(file)
      const masterKey = keys.get(masterKeyId)
      if (!masterKey) throw new Error(`the master key ${masterKeyId} is not in ${file}`)
      return decrypt(masterKey, wrapped, associatedData)
    },
  }
}

/** Creates the file with a first key, unless it exists. @returns whether it was created. */
export function createMasterKeyFile(file: string): boolean {
  if (existsSync(file)) return false
  // With PostgreSQL, the data folder may not exist yet.
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
  replaceMasterKeys(file, new Map([newMasterKey()]))
  return true
}

/** Returns the id of the key that wraps new keys. */
export function newestMasterKeyId(file: string): string {
  const [id] = readMasterKeys(file).keys()
  if (id === undefined) throw new Error(`${file} contains no master key`)
  return id
}

/** Adds a new key, which wraps all keys from now on. @returns its id. */
export function addMasterKey(file: string): string {
  const [id, key] = newMasterKey()
  replaceMasterKeys(file, new Map([[id, key], ...readMasterKeys(file)]))
  return id
}

/** Destroys all other keys. Data that they wrapped can never be decrypted again. */
export function destroyOtherMasterKeys(file: string, id: string): void {
  const key = readMasterKeys(file).get(id)
  if (!key) throw new Error(`the master key ${id} is not in ${file}`)
  replaceMasterKeys(file, new Map([[id, key]]))
}

function newMasterKey(): [string, Buffer] {
  return [newId(), randomBytes(keyBytes)]
}

function readMasterKeys(file: string): MasterKeys {
  if (!existsSync(file))
    throw new Error(
      `there is no master key in ${file}: copy the file of another server; all servers of a ` +
        'database must have the same one',
    )
  const descriptor = openSync(file, 'r')
  try {
    if (process.platform !== 'win32' && isExposed(fstatSync(descriptor)))
      throw new Error(`others may read the master key: run chmod 600 ${file}`)
    const lines = readFileSync(descriptor, 'utf8').split('\n').filter(Boolean)
    const keys = new Map(lines.map((line) => parseLine(line, file)))
    if (keys.size === 0) throw new Error(`${file} contains no master key`)
    return keys
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Only the owner may read the file. If root owns it, its group may read it too, but not change it:
 * this is how a process that does not run as root receives a mounted secret.
 */
function isExposed({ mode, uid }: Pick<Stats, 'mode' | 'uid'>): boolean {
  return (mode & (uid === 0 ? 0o037 : 0o077)) !== 0
}

/** A line contains the id of a key and its 32 bytes in base64. */
function parseLine(line: string, file: string): [string, Buffer] {
  const [id = '', text = ''] = line.split(' ')
  const key = Buffer.from(text, 'base64')
  if (key.length !== keyBytes) throw new Error(`${file} is not a master key file`)
  return [id, key]
}

/** Replaces the file in one step, then overwrites the bytes of the old file with zeros. */
function replaceMasterKeys(file: string, keys: MasterKeys): void {
  const oldFile = existsSync(file) ? openSync(file, 'r+') : undefined
  const text = [...keys].map(([id, key]) => `${id} ${key.toString('base64')}\n`).join('')
  const newFile = `${file}.new`
  writeFileSync(newFile, text, { mode: 0o600, flush: true })
  renameSync(newFile, file)
  syncFolder(path.dirname(file))
  if (oldFile === undefined) return
  writeSync(oldFile, Buffer.alloc(fstatSync(oldFile).size), 0, undefined, 0)
  fsyncSync(oldFile)
  closeSync(oldFile)
}

/** A rename is durable only after its folder was written to disk. */
function syncFolder(folder: string): void {
  if (process.platform === 'win32') return
  const descriptor = openSync(folder, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}
