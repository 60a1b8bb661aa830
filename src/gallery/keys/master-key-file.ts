import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import path from 'node:path'
import { keyBytes } from '../../lib/crypto/aes-gcm.ts'
import { newId } from '../../lib/ids.ts'

/** Id → key. The first key is the newest. There are two keys only during a key rotation. */
type MasterKeys = ReadonlyMap<string, Buffer>

export function requireKey(keys: MasterKeys, id: string, file: string): Buffer {
  const key = keys.get(id)
  if (!key) throw new Error(`the master key ${id} is not in ${file}`)
  return key
}

/** Returns whether the file can be read and contains the current master key. */
export function isMasterKeyReadable(file: string, currentId: string | undefined): boolean {
  try {
    readCurrentMasterKeys(file, currentId)
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
  return newestOf(readMasterKeys(file))[0]
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

/** @throws Error if the file lacks the master key of the latest rotation or the first start. */
export function readCurrentMasterKeys(file: string, currentId: string | undefined): MasterKeys {
  const keys = readMasterKeys(file)
  if (currentId === undefined || keys.has(currentId)) return keys
  throw new Error(
    `${file} does not contain ${currentId}, the current master key of the database: copy the file of ` +
      'another server, or the file with which the keys were rotated',
  )
}

export function newestOf(keys: MasterKeys): readonly [id: string, key: Buffer] {
  const [newest] = keys
  if (!newest) throw new Error('there is no master key')
  return newest
}

function newMasterKey(): [string, Buffer] {
  return [newId(), randomBytes(keyBytes)]
}

export function readMasterKeys(file: string): MasterKeys {
  if (!fs.existsSync(file))
    throw new Error(
      `there is no master key in ${file}: restore the file from its copy, or set MASTER_KEY_FILE; on ` +
        'PostgreSQL, copy the file of another server: all servers of a database have the same one',
    )
  if (fs.statSync(file).isDirectory())
    throw new Error(`the master key ${file} is a folder; set MASTER_KEY_FILE to a file`)
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
