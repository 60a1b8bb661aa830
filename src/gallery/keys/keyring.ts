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

/** The master keys, which wrap the keys of galleries and are never in the database. */
export type Keyring = {
  readonly wrap: (key: Buffer, boundTo: string) => WrappedByMasterKey
  /** @throws Error when the master key is not in the file, or the bytes were changed. */
  readonly unwrap: (wrapped: WrappedByMasterKey, boundTo: string) => Buffer
}

export type WrappedByMasterKey = { readonly masterKeyId: string; readonly wrapped: Uint8Array }

/** By id; the first is the one to wrap by. There are two only while they are being rotated. */
type MasterKeys = ReadonlyMap<string, Buffer>

/**
 * Opens the file of the master key. It is read again before a key is wrapped, and when one is asked
 * for that was not in it: a rotation may have happened beside this process, and what is wrapped by a
 * key that is being destroyed is lost.
 *
 * @throws Error when others may read the file, or it holds no keys.
 */
export function openKeyring(file: string): Keyring {
  let keys = readMasterKeys(file)
  return {
    wrap: (key, boundTo) => {
      keys = readMasterKeys(file)
      const [newest] = keys
      if (!newest) throw new Error(`${file} holds no key`)
      const [masterKeyId, masterKey] = newest
      return { masterKeyId, wrapped: encrypt(masterKey, key, boundTo) }
    },
    unwrap: ({ masterKeyId, wrapped }, boundTo) => {
      if (!keys.has(masterKeyId)) keys = readMasterKeys(file)
      const masterKey = keys.get(masterKeyId)
      if (!masterKey) throw new Error(`the master key ${masterKeyId} is not in ${file}`)
      return decrypt(masterKey, wrapped, boundTo)
    },
  }
}

/** Makes the file with its first key, unless it is there. @returns whether it was made. */
export function createMasterKeyFile(file: string): boolean {
  if (existsSync(file)) return false
  // With the database on a server nothing else may have made the data folder yet.
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
  replaceMasterKeys(file, new Map([newMasterKey()]))
  return true
}

/** The id of the key that is wrapped by. */
export function newestMasterKeyId(file: string): string {
  const [id] = readMasterKeys(file).keys()
  if (id === undefined) throw new Error(`${file} holds no key`)
  return id
}

/** Puts a new key before the others: from now on keys are wrapped by it. @returns its id. */
export function addMasterKey(file: string): string {
  const [id, key] = newMasterKey()
  replaceMasterKeys(file, new Map([[id, key], ...readMasterKeys(file)]))
  return id
}

/** Destroys all other keys: what they have wrapped is unreadable for ever. */
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
      `there is no master key in ${file}; all servers of a database have the same one`,
    )
  const descriptor = openSync(file, 'r')
  try {
    if (process.platform !== 'win32' && isExposed(fstatSync(descriptor)))
      throw new Error(`others may read the master key: chmod 600 ${file}`)
    const lines = readFileSync(descriptor, 'utf8').split('\n').filter(Boolean)
    const keys = new Map(lines.map((line) => parseLine(line, file)))
    if (keys.size === 0) throw new Error(`${file} holds no key`)
    return keys
  } finally {
    closeSync(descriptor)
  }
}

/**
 * The file is for its owner alone. One of root's may also be read by its group: so a mounted secret
 * comes to a process that is not root, and nobody in the group can change it.
 */
function isExposed({ mode, uid }: Pick<Stats, 'mode' | 'uid'>): boolean {
  return (mode & (uid === 0 ? 0o037 : 0o077)) !== 0
}

/** A line is the id of a key and its 32 bytes in base64. */
function parseLine(line: string, file: string): [string, Buffer] {
  const [id = '', text = ''] = line.split(' ')
  const key = Buffer.from(text, 'base64')
  if (key.length !== keyBytes) throw new Error(`${file} is not a file of master keys`)
  return [id, key]
}

/** The new file takes the place of the old in one step; then the old one's bytes are zeroed. */
function replaceMasterKeys(file: string, keys: MasterKeys): void {
  const old = existsSync(file) ? openSync(file, 'r+') : undefined
  const text = [...keys].map(([id, key]) => `${id} ${key.toString('base64')}\n`).join('')
  const fresh = `${file}.new`
  writeFileSync(fresh, text, { mode: 0o600, flush: true })
  renameSync(fresh, file)
  syncFolder(path.dirname(file))
  if (old === undefined) return
  writeSync(old, Buffer.alloc(fstatSync(old).size), 0, undefined, 0)
  fsyncSync(old)
  closeSync(old)
}

/** A rename is on the disk when its folder is. */
function syncFolder(folder: string): void {
  if (process.platform === 'win32') return
  const descriptor = openSync(folder, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}
