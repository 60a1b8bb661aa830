import type { Store } from '../store/database.ts'
import { listGalleryKeys, removeGalleryKey } from '../store/galleries.ts'
import type { GalleryKeyRow } from '../store/schema.ts'
import { changeSubject, subjectsUnderKey } from '../store/subjects.ts'
import type { Tx } from '../store/tx.ts'
import { addMasterKey, keepMasterKey, newestMasterKeyId, openKeyring } from './keyring.ts'
import { createSubjectKeys, makeGalleryKey } from './subject-keys.ts'

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
 * its log: no template in it can be opened any more, whether its subject was deleted or not.
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
  await store.write((tx) => {
    for (const galleryId of new Set(old.map((key) => key.galleryId)))
      makeGalleryKey(tx, keyring, galleryId, newestMs)
  })
  let subjects = 0
  for (const { keyId } of old) {
    for (let count = subjectsAtATime; count === subjectsAtATime; onProgress?.(before + subjects)) {
      count = await store.write((tx) => {
        const some = subjectsUnderKey(tx, keyId, subjectsAtATime)
        for (const subject of some) changeSubject(tx, subject.subjectId, keys.rewrap(tx, subject))
        return some.length
      })
      subjects += count
    }
    await store.write((tx) => removeGalleryKey(tx, keyId))
  }
  return subjects
}

/** In a transaction: whoever wraps a key after it finds the old master key gone. */
function destroyOlder(tx: Tx, masterKeyFile: string, masterKeyId: string): boolean {
  if (olderKeys(listGalleryKeys(tx), masterKeyId).length > 0) return false
  keepMasterKey(masterKeyFile, masterKeyId)
  return true
}
