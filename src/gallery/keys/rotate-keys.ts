import type { Store, Tx } from '../../store/database.ts'
import {
  findGallery,
  lockGallery,
  listGalleryKeys,
  removeGalleryKey,
  storeCurrentMasterKeyId,
} from '../../store/gallery/galleries.ts'
import { findSubjectsNeedingKey, listGalleriesNeedingKeys } from '../../store/gallery/crops.ts'
import type { GalleryKeyRow } from '../../store/gallery-schema.ts'
import { updateSubjectRow, findSubjectsByKey } from '../../store/gallery/subjects.ts'
import { deletePages } from '../../store/gallery/search/gallery-pages.ts'
import {
  type Keyring,
  type SubjectKeys,
  createGalleryKey,
  createSubjectKeys,
  masterKeyLock,
  openKeyring,
} from './keyring.ts'
import {
  addMasterKey,
  destroyOtherMasterKeys,
  newestMasterKeyId,
  preparedMasterKeyId,
} from './master-key-file.ts'
import { listWrappedKeys, requireUnwrappable } from './open-keys.ts'
import { renewSubjectKey } from './subject-encryption.ts'
import { rewrapStoredSecrets } from './stored-secrets.ts'

export type RotateKeysResult = Readonly<RotationCounts> & { readonly galleries: number }

/** The progress of a rotation; each committed batch adds its counts. */
type RotationCounts = {
  /** Subjects whose keys are wrapped with the new master key. */
  subjects: number
  /** Those of them that have a new key, because a template or crop was removed. */
  renewed: number
  /** Ciphertexts of these that were changed or moved. They match nothing and were left unchanged. */
  unreadable: number
}

export type RotateKeysOptions = {
  readonly store: Store
  readonly masterKeyFile: string
  /** Whether the file already contains the new master key, on every server; else it is created. */
  readonly isPrepared?: boolean
  readonly nowMs: () => number
  readonly onProgress?: (subjects: number) => void
  /** Runs in the last transaction, before the old master key is destroyed. */
  readonly onRotated?: (tx: Tx) => Promise<void>
}

/** Subjects per transaction: other calls wait no longer than for one ordinary write. */
const subjectBatchSize = 200
/** One, because it may have more than a thousand templates and crops to encrypt. */
const renewBatchSize = 1

/**
 * Wraps the keys of all subjects with new gallery keys under a new master key, and then destroys the
 * old master key. After that, no template in any older copy of the database can be decrypted:
 * neither in a backup nor in an archived log, whether its subject was deleted or not.
 *
 * Subjects from which a template or crop was removed receive a new key, with which their remaining
 * data is encrypted. The removed data can then be decrypted with no key of the database.
 *
 * Can run beside a running server, and can be repeated after an interruption at any point: the old
 * master key is destroyed last. If another rotation begins meanwhile, that one continues.
 *
 * @throws Error if the file lacks a key of the database, or another rotation has added a newer one.
 */
export async function rotateKeys(options: RotateKeysOptions): Promise<RotateKeysResult> {
  const { store, masterKeyFile } = options
  const masterKeyId = await store.write((tx) => beginRotation(tx, options))
  const keyring = openKeyring(masterKeyFile)
  const run = { ...options, keyring, keys: createSubjectKeys(keyring, options.nowMs) }
  const galleryIds = new Set<string>()
  const counts = { subjects: 0, renewed: 0, unreadable: 0 }
  do {
    requireNewestKey(masterKeyFile, masterKeyId)
    const galleryKeys = await store.read(listGalleryKeys)
    const oldKeys = galleryKeys.filter((key) => key.masterKeyId !== masterKeyId)
    for (const { galleryId } of oldKeys) galleryIds.add(galleryId)
    await createGalleryKeys(oldKeys, run)
    await renewMarkedSubjects(run, counts)
    for (const key of oldKeys) await retireGalleryKey(key, run, counts)
    await store.write((tx) => rewrapStoredSecrets(tx, keyring, masterKeyId))
    // Until a moment ago, a server may have wrapped the first key of a gallery with the old one.
  } while (!(await store.write((tx) => destroyOlderMasterKeys(tx, options, masterKeyId))))
  await store.checkpoint()
  return { galleries: galleryIds.size, ...counts }
}

/** Two rotations that replace the file at the same time would lose a key. */
async function beginRotation(tx: Tx, options: RotateKeysOptions): Promise<string> {
  const { masterKeyFile, isPrepared = false } = options
  await tx.lock(masterKeyLock, 'exclusive')
  // Without a check of the current key: its file may be lost, and this rotation replaces it.
  requireUnwrappable(openKeyring(masterKeyFile), await listWrappedKeys(tx))
  const masterKeyId = isPrepared ? preparedMasterKeyId(masterKeyFile) : addMasterKey(masterKeyFile)
  await storeCurrentMasterKeyId(tx, masterKeyId)
  return masterKeyId
}

/** A newer key wraps all keys, so that a rotation to an older one never ends. */
function requireNewestKey(masterKeyFile: string, masterKeyId: string): void {
  if (newestMasterKeyId(masterKeyFile) !== masterKeyId)
    throw new Error(
      `another rotation has added a newer master key to ${masterKeyFile} and encrypts all keys with ` +
        'it; nothing is lost: if it was interrupted, run this command again',
    )
}

type RotationRun = RotateKeysOptions & { readonly keyring: Keyring; readonly keys: SubjectKeys }

/** Creates a newer key for each gallery of the old keys. */
async function createGalleryKeys(
  oldKeys: readonly GalleryKeyRow[],
  { store, keyring, nowMs }: RotationRun,
): Promise<void> {
  const newestMs = Math.max(nowMs(), ...oldKeys.map(({ createdAtMs }) => createdAtMs + 1))
  const galleryIds = new Set(oldKeys.map(({ galleryId }) => galleryId))
  await store.write(async (tx) => {
    for (const galleryId of galleryIds) await createGalleryKey(tx, keyring, galleryId, newestMs)
  })
}

/** Includes subjects that an interrupted rotation has already wrapped with the new master key. */
async function renewMarkedSubjects(run: RotationRun, counts: RotationCounts): Promise<void> {
  for (const galleryId of await run.store.read(listGalleriesNeedingKeys)) {
    const find = (tx: Tx) => findSubjectsNeedingKey(tx, galleryId, renewBatchSize)
    await rotateSubjects({ galleryId, find }, run, counts)
  }
}

/** Removes the key after all keys of subjects are wrapped with a newer one. */
async function retireGalleryKey(
  { galleryId, keyId }: GalleryKeyRow,
  run: RotationRun,
  counts: RotationCounts,
) {
  await deletePages(run.store, { keyId })
  const find = (tx: Tx) => findSubjectsByKey(tx, keyId, subjectBatchSize)
  await rotateSubjects({ galleryId, find }, run, counts)
  await run.store.write(async (tx) => {
    await lockGallery(tx, galleryId, 'exclusive')
    await removeGalleryKey(tx, keyId)
  })
}

/** Subjects of a gallery that still have to be rotated. */
type SubjectsToRotate = {
  readonly galleryId: string
  readonly find: (tx: Tx) => ReturnType<typeof findSubjectsByKey>
}

/** Rotates batches of subjects until `find` returns none. */
async function rotateSubjects(
  source: SubjectsToRotate,
  { store, keys, onProgress }: RotationRun,
  counts: RotationCounts,
): Promise<void> {
  for (;;) {
    const batch = await store.write((tx) => rotateBatch(tx, source, keys))
    if (batch.subjects === 0) return
    counts.subjects += batch.subjects
    counts.renewed += batch.renewed
    counts.unreadable += batch.unreadable
    onProgress?.(counts.subjects)
  }
}

async function rotateBatch(tx: Tx, { galleryId, find }: SubjectsToRotate, keys: SubjectKeys) {
  await lockGallery(tx, galleryId, 'exclusive')
  const subjects = await find(tx)
  const counts = { subjects: subjects.length, renewed: 0, unreadable: 0 }
  const accountId = (await findGallery(tx, galleryId))?.accountId ?? ''
  for (const subject of subjects)
    if (subject.needsNewKey === 1) {
      counts.renewed += 1
      counts.unreadable += await renewSubjectKey(tx, { ...subject, accountId }, keys)
    } else await updateSubjectRow(tx, subject.subjectId, await keys.rewrap(tx, subject))
  return counts
}

/** A process that wraps a key after this transaction reads the changed file. */
async function destroyOlderMasterKeys(
  tx: Tx,
  { masterKeyFile, onRotated }: RotateKeysOptions,
  masterKeyId: string,
): Promise<boolean> {
  await tx.lock(masterKeyLock, 'exclusive')
  requireNewestKey(masterKeyFile, masterKeyId)
  const { galleryKeys, secrets } = await listWrappedKeys(tx)
  if ([...galleryKeys, ...secrets].some((key) => key.masterKeyId !== masterKeyId)) return false
  await storeCurrentMasterKeyId(tx, masterKeyId)
  await onRotated?.(tx)
  destroyOtherMasterKeys(masterKeyFile, masterKeyId)
  return true
}
