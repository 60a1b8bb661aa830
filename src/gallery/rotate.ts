import type { Store } from '../store/database.ts'
import { holdGallery, listGalleryKeys, removeGalleryKey } from '../store/galleries.ts'
import type { GalleryKeyRow } from '../store/schema.ts'
import { changeSubject, subjectsUnderKey } from '../store/subjects.ts'
import type { Tx } from '../store/tx.ts'
import { hasVectors } from '../store/vectors.ts'
import { addMasterKey, keepMasterKey, newestMasterKeyId, openKeyring } from './keyring.ts'
import { createOpener } from './opener.ts'
import { createSpaces } from './search/database/spaces.ts'
import { moveVectors } from './search/database/vectors.ts'
import {
  createSubjectKeys,
  makeGalleryKey,
  masterKeyLock,
  type SubjectKeys,
} from './subject-keys.ts'

export type Rotation = { readonly galleries: number; readonly subjects: number }

export type RotationOptions = {
  readonly store: Store
  readonly masterKeyFile: string
  /** Whether the new master key is in the file already, on every server; else it is made. */
  readonly isPrepared?: boolean
  readonly nowMs: () => number
  readonly onProgress?: (rewrapped: number) => void
}

/** Subjects of one transaction: calls wait no longer than for a busy neighbour. */
const subjectsAtATime = 200

/**
 * Wraps every subject's key anew, under new keys of the galleries under a new master key, and then
 * destroys the old master key. Whatever older copy there is of the database, a backup or a piece of
 * its log: no template in it can be opened any more, whether its subject was deleted or not. Vectors of
 * the search in the database are rotated anew, by the new keys.
 *
 * Safe beside a running server, and to be run again after it was cut off at any point: the old
 * master key goes last.
 */
export async function rotateKeys(options: RotationOptions): Promise<Rotation> {
  const { store, masterKeyFile, isPrepared = false } = options
  const masterKeyId = isPrepared ? newestMasterKeyId(masterKeyFile) : addMasterKey(masterKeyFile)
  const galleryIds = new Set<string>()
  let subjects = 0
  do {
    const old = olderKeys(await store.read(listGalleryKeys), masterKeyId)
    for (const { galleryId } of old) galleryIds.add(galleryId)
    subjects += await rewrapAll(old, subjects, options)
    // A server may have wrapped a gallery's first key by the old one until a moment ago.
  } while (!(await store.write((tx) => destroyOlder(tx, masterKeyFile, masterKeyId))))
  await store.checkpoint()
  return { galleries: galleryIds.size, subjects }
}

function olderKeys(keys: readonly GalleryKeyRow[], masterKeyId: string): readonly GalleryKeyRow[] {
  return keys.filter((key) => key.masterKeyId !== masterKeyId)
}

/** @returns how many subjects have keys under the newest master key now. */
async function rewrapAll(
  old: readonly GalleryKeyRow[],
  before: number,
  { store, masterKeyFile, nowMs, onProgress }: RotationOptions,
): Promise<number> {
  const keyring = openKeyring(masterKeyFile)
  const keys = createSubjectKeys(keyring, nowMs)
  const newestMs = Math.max(nowMs(), ...old.map(({ createdAtMs }) => createdAtMs + 1))
  const galleryIds = new Set(old.map(({ galleryId }) => galleryId))
  await store.write(async (tx) => {
    for (const galleryId of galleryIds) await makeGalleryKey(tx, keyring, galleryId, newestMs)
  })
  const moveOut = (await store.read(hasVectors)) ? vectorMover(keys) : undefined
  let subjects = 0
  for (const key of old) {
    const some = (tx: Tx) => rewrapSome(tx, key, keys)
    for (let count = await store.write(some); count > 0; count = await store.write(some)) {
      subjects += count
      onProgress?.(before + subjects)
    }
    const { galleryId, keyId } = key
    const space = { galleryId, space: keyId, limit: subjectsAtATime }
    for (let count = moveOut ? subjectsAtATime : 0; count === subjectsAtATime;)
      count = (await store.write((tx) => moveOut?.(tx, space))) ?? 0
    await store.write((tx) => removeUnused(tx, key))
  }
  return subjects
}

async function rewrapSome(tx: Tx, key: GalleryKeyRow, keys: SubjectKeys): Promise<number> {
  await holdGallery(tx, key.galleryId, 'alone')
  const some = await subjectsUnderKey(tx, key.keyId, subjectsAtATime)
  for (const subject of some)
    await changeSubject(tx, subject.subjectId, await keys.rewrap(tx, subject))
  return some.length
}

async function removeUnused(tx: Tx, key: GalleryKeyRow): Promise<void> {
  await holdGallery(tx, key.galleryId, 'alone')
  await removeGalleryKey(tx, key.keyId)
}

/** Whoever wraps a key after this transaction finds the file changed. */
async function destroyOlder(tx: Tx, masterKeyFile: string, masterKeyId: string): Promise<boolean> {
  await tx.lock(masterKeyLock, 'alone')
  if (olderKeys(await listGalleryKeys(tx), masterKeyId).length > 0) return false
  keepMasterKey(masterKeyFile, masterKeyId)
  return true
}

/** The servers tell of templates that do not open. */
function vectorMover(keys: SubjectKeys) {
  const openStored = createOpener(keys, { error: () => {} })
  const vectoring = { openStored, spaces: createSpaces(keys, { isRotated: true }) }
  return (tx: Tx, from: Parameters<typeof moveVectors>[1]) => moveVectors(tx, from, vectoring)
}
