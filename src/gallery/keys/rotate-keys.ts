import type { Store } from '../../store/database.ts'
import { lockGallery, listGalleryKeys, removeGalleryKey } from '../../store/gallery/galleries.ts'
import type { GalleryKeyRow } from '../../store/schema.ts'
import { updateSubjectRow, findSubjectsByKey } from '../../store/gallery/subjects.ts'
import type { Tx } from '../../store/tx.ts'
import { hasVectors } from '../../store/gallery/vectors.ts'
import { addMasterKey, destroyOtherMasterKeys, newestMasterKeyId, openKeyring } from './keyring.ts'
import { createDecryptStoredTemplate } from './decrypt-stored-template.ts'
import { createSpaces } from '../search/database/spaces.ts'
import { moveVectors } from '../search/database/template-vectors.ts'
import {
  createSubjectKeys,
  createGalleryKey,
  masterKeyLock,
  type SubjectKeys,
} from './subject-keys.ts'

export type RotateKeysResult = { readonly galleries: number; readonly subjects: number }

export type RotateKeysOptions = {
  readonly store: Store
  readonly masterKeyFile: string
  /** Whether the new master key is in the file already, on every server; else it is made. */
  readonly isPrepared?: boolean
  readonly nowMs: () => number
  readonly onProgress?: (rewrapped: number) => void
}

/** Subjects of one transaction: calls wait no longer than for a busy neighbour. */
const subjectBatchSize = 200

/**
 * Wraps every subject's key anew, under new keys of the galleries under a new master key, and then
 * destroys the old master key. Whatever older copy there is of the database, a backup or a piece of
 * its log: no template in it can be opened any more, whether its subject was deleted or not. Vectors of
 * the search in the database are rotated anew, by the new keys.
 *
 * Safe beside a running server, and to be run again after it was cut off at any point: the old
 * master key goes last.
 */
export async function rotateKeys(options: RotateKeysOptions): Promise<RotateKeysResult> {
  const { store, masterKeyFile, isPrepared = false } = options
  const masterKeyId = isPrepared ? newestMasterKeyId(masterKeyFile) : addMasterKey(masterKeyFile)
  const galleryIds = new Set<string>()
  let subjects = 0
  do {
    const old = keysUnderOlderMasterKey(await store.read(listGalleryKeys), masterKeyId)
    for (const { galleryId } of old) galleryIds.add(galleryId)
    subjects += await rewrapAll(old, subjects, options)
    // A server may have wrapped a gallery's first key by the old one until a moment ago.
  } while (!(await store.write((tx) => destroyOlderMasterKeys(tx, masterKeyFile, masterKeyId))))
  await store.checkpoint()
  return { galleries: galleryIds.size, subjects }
}

function keysUnderOlderMasterKey(
  keys: readonly GalleryKeyRow[],
  masterKeyId: string,
): readonly GalleryKeyRow[] {
  return keys.filter((key) => key.masterKeyId !== masterKeyId)
}

/** @returns how many subjects have keys under the newest master key now. */
async function rewrapAll(
  old: readonly GalleryKeyRow[],
  before: number,
  { store, masterKeyFile, nowMs, onProgress }: RotateKeysOptions,
): Promise<number> {
  const keyring = openKeyring(masterKeyFile)
  const keys = createSubjectKeys(keyring, nowMs)
  const newestMs = Math.max(nowMs(), ...old.map(({ createdAtMs }) => createdAtMs + 1))
  const galleryIds = new Set(old.map(({ galleryId }) => galleryId))
  await store.write(async (tx) => {
    for (const galleryId of galleryIds) await createGalleryKey(tx, keyring, galleryId, newestMs)
  })
  const moveOut = (await store.read(hasVectors)) ? vectorMover(keys) : undefined
  let subjects = 0
  for (const key of old) {
    const some = (tx: Tx) => rewrapBatch(tx, key, keys)
    for (let count = await store.write(some); count > 0; count = await store.write(some)) {
      subjects += count
      onProgress?.(before + subjects)
    }
    const { galleryId, keyId } = key
    const space = { galleryId, space: keyId, limit: subjectBatchSize }
    for (let count = moveOut ? subjectBatchSize : 0; count === subjectBatchSize;)
      count = (await store.write((tx) => moveOut?.(tx, space))) ?? 0
    await store.write((tx) => removeGalleryKeyRow(tx, key))
  }
  return subjects
}

async function rewrapBatch(tx: Tx, key: GalleryKeyRow, keys: SubjectKeys): Promise<number> {
  await lockGallery(tx, key.galleryId, 'exclusive')
  const some = await findSubjectsByKey(tx, key.keyId, subjectBatchSize)
  for (const subject of some)
    await updateSubjectRow(tx, subject.subjectId, await keys.rewrap(tx, subject))
  return some.length
}

async function removeGalleryKeyRow(tx: Tx, key: GalleryKeyRow): Promise<void> {
  await lockGallery(tx, key.galleryId, 'exclusive')
  await removeGalleryKey(tx, key.keyId)
}

/** Whoever wraps a key after this transaction finds the file changed. */
async function destroyOlderMasterKeys(
  tx: Tx,
  masterKeyFile: string,
  masterKeyId: string,
): Promise<boolean> {
  await tx.lock(masterKeyLock, 'exclusive')
  if (keysUnderOlderMasterKey(await listGalleryKeys(tx), masterKeyId).length > 0) return false
  destroyOtherMasterKeys(masterKeyFile, masterKeyId)
  return true
}

/** The servers tell of templates that do not open. */
function vectorMover(keys: SubjectKeys) {
  const decryptStored = createDecryptStoredTemplate(keys, { error: () => {} })
  const vectoring = { decryptStored, spaces: createSpaces(keys, { isRotated: true }) }
  return (tx: Tx, from: Parameters<typeof moveVectors>[1]) => moveVectors(tx, from, vectoring)
}
