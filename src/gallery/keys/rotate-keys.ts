import type { Store } from '../../store/database.ts'
import { lockGallery, listGalleryKeys, removeGalleryKey } from '../../store/gallery/galleries.ts'
import type { GalleryKeyRow } from '../../store/schema.ts'
import { updateSubjectRow, findSubjectsByKey } from '../../store/gallery/subjects.ts'
import type { Tx } from '../../store/tx.ts'
import { deleteObfuscatedVectors, hasVectors } from '../../store/gallery/vectors.ts'
import { addMasterKey, destroyOtherMasterKeys, newestMasterKeyId, openKeyring } from './keyring.ts'
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
  /** Whether the file already contains the new master key, on every server; else it is created. */
  readonly isPrepared?: boolean
  readonly nowMs: () => number
  readonly onProgress?: (rewrapped: number) => void
}

/** Subjects per transaction: other calls wait no longer than for one ordinary write. */
const subjectBatchSize = 200
/** Vectors deleted per transaction, within the statement timeout. */
const vectorBatchSize = 1_000

/**
 * Wraps the keys of all subjects with new gallery keys under a new master key, and then destroys the
 * old master key. After that, no template in any older copy of the database can be decrypted:
 * neither in a backup nor in an archived log, whether its subject was deleted or not.
 *
 * Can run beside a running server, and can be repeated after an interruption at any point: the old
 * master key is destroyed last.
 */
export async function rotateKeys(options: RotateKeysOptions): Promise<RotateKeysResult> {
  const { store, masterKeyFile, isPrepared = false } = options
  const masterKeyId = isPrepared ? newestMasterKeyId(masterKeyFile) : addMasterKey(masterKeyFile)
  const galleryIds = new Set<string>()
  let subjects = 0
  do {
    const oldKeys = keysUnderOlderMasterKey(await store.read(listGalleryKeys), masterKeyId)
    for (const { galleryId } of oldKeys) galleryIds.add(galleryId)
    subjects += await rewrapAll(oldKeys, subjects, options)
    // Until a moment ago, a server may have wrapped the first key of a gallery with the old one.
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

/** @returns the number of subjects whose keys were wrapped again. */
async function rewrapAll(
  oldKeys: readonly GalleryKeyRow[],
  rewrappedBefore: number,
  { store, masterKeyFile, nowMs, onProgress }: RotateKeysOptions,
): Promise<number> {
  const keyring = openKeyring(masterKeyFile)
  const keys = createSubjectKeys(keyring, nowMs)
  const newestMs = Math.max(nowMs(), ...oldKeys.map(({ createdAtMs }) => createdAtMs + 1))
  const galleryIds = new Set(oldKeys.map(({ galleryId }) => galleryId))
  await store.write(async (tx) => {
    for (const galleryId of galleryIds) await createGalleryKey(tx, keyring, galleryId, newestMs)
  })
  let subjects = 0
  for (const key of oldKeys) {
    const rewrap = (tx: Tx) => rewrapBatch(tx, key, keys)
    for (let count = await store.write(rewrap); count > 0; count = await store.write(rewrap)) {
      subjects += count
      onProgress?.(rewrappedBefore + subjects)
    }
    await deleteVectorsOfKey(store, key)
    await store.write((tx) => removeGalleryKeyRow(tx, key))
  }
  return subjects
}

async function rewrapBatch(tx: Tx, key: GalleryKeyRow, keys: SubjectKeys): Promise<number> {
  await lockGallery(tx, key.galleryId, 'exclusive')
  const subjects = await findSubjectsByKey(tx, key.keyId, subjectBatchSize)
  for (const subject of subjects)
    await updateSubjectRow(tx, subject.subjectId, await keys.rewrap(tx, subject))
  return subjects.length
}

/**
 * Deletes the vectors that an earlier version obfuscated with this key, because they reference it.
 * The server creates the vectors of these templates again.
 */
async function deleteVectorsOfKey(
  store: Store,
  { galleryId, keyId }: GalleryKeyRow,
): Promise<void> {
  if (!(await store.read(hasVectors))) return
  const batch = { galleryId, keyId, limit: vectorBatchSize }
  const deleteBatch = (tx: Tx) => deleteObfuscatedVectors(tx, batch)
  while ((await store.write(deleteBatch)) > 0);
}

async function removeGalleryKeyRow(tx: Tx, key: GalleryKeyRow): Promise<void> {
  await lockGallery(tx, key.galleryId, 'exclusive')
  await removeGalleryKey(tx, key.keyId)
}

/** A process that wraps a key after this transaction reads the changed file. */
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
