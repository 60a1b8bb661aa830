import type { Store } from '../store/database.ts'
import { holdGallery, listGalleryKeys, removeGalleryKey } from '../store/galleries.ts'
import { changeSubject, subjectsUnderKey } from '../store/subjects.ts'
import { addMasterKey, keepMasterKey, openKeyring } from './keyring.ts'
import { createSubjectKeys, makeGalleryKey } from './subject-keys.ts'

export type Rotation = { readonly galleries: number; readonly subjects: number }

export type RotationOptions = {
  readonly store: Store
  readonly masterKeyFile: string
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
  const { store, masterKeyFile, nowMs, onProgress } = options
  const masterKeyId = addMasterKey(masterKeyFile)
  const keyring = openKeyring(masterKeyFile)
  const keys = createSubjectKeys(keyring, nowMs)
  const old = await store.read(listGalleryKeys)
  const newestMs = Math.max(nowMs(), ...old.map(({ createdAtMs }) => createdAtMs + 1))
  const galleryIds = new Set(old.map(({ galleryId }) => galleryId))
  await store.write(async (tx) => {
    for (const galleryId of galleryIds) await makeGalleryKey(tx, keyring, galleryId, newestMs)
  })
  let subjects = 0
  for (const { keyId, galleryId } of old) {
    for (let count = subjectsAtATime; count === subjectsAtATime; onProgress?.(subjects)) {
      count = await store.write(async (tx) => {
        await holdGallery(tx, galleryId, 'alone')
        const some = await subjectsUnderKey(tx, keyId, subjectsAtATime)
        for (const subject of some)
          await changeSubject(tx, subject.subjectId, await keys.rewrap(tx, subject))
        return some.length
      })
      subjects += count
    }
    await store.write(async (tx) => {
      await holdGallery(tx, galleryId, 'alone')
      await removeGalleryKey(tx, keyId)
    })
  }
  keepMasterKey(masterKeyFile, masterKeyId)
  await store.checkpoint()
  return { galleries: galleryIds.size, subjects }
}
