import type { Store } from '../store/database.ts'
import { withoutRecord, type ChainedDeletion } from '../store/deletion-chain.ts'
import { enterDeletion } from '../store/deletions.ts'
import { holdGallery } from '../store/galleries.ts'
import { findSubject } from '../store/subjects.ts'
import type { Tx } from '../store/tx.ts'
import { readDeletionsFile } from './deletions-file.ts'
import { eraseSubject } from './remove.ts'

export type Replayed = {
  /** Records of the file, those of them that the database did not have, and who had come back. */
  readonly records: number
  readonly entered: number
  readonly deletedAgain: number
}

/** Looked up at once; and entered in one transaction, so that no call waits long behind it. */
const lookedUpAtATime = 500
const enteredAtATime = 50

/**
 * Deletes again whoever has come back with an older copy of the database, and enters the records of
 * their deletion as they were; where the copy went its own way meanwhile, behind what it has. To be
 * done before the copy answers anything. Who has a record already is passed over, so it may be run
 * again, and by several at once.
 */
export async function replayDeletions(store: Store, file: string): Promise<Replayed> {
  let entered = 0
  let deletedAgain = 0
  const waiting: ChainedDeletion[] = []
  const { records } = await readDeletionsFile(file, async (row) => {
    waiting.push(row)
    if (waiting.length === lookedUpAtATime) await work()
  })
  await work()
  if (deletedAgain > 0) await store.checkpoint()
  return { records, entered, deletedAgain }

  async function work(): Promise<void> {
    const rows = waiting.splice(0)
    const missing = await store.read((reading) => withoutRecord(reading, rows))
    for (let at = 0; at < missing.length; at += enteredAtATime) {
      const some = missing.slice(at, at + enteredAtATime)
      const done = await store.write((tx) => deleteAgain(tx, some))
      deletedAgain += done.deletedAgain
      entered += done.entered
    }
  }
}

async function deleteAgain(tx: Tx, wanted: readonly ChainedDeletion[]) {
  const galleryIds = new Set(wanted.map(({ galleryId }) => galleryId))
  for (const galleryId of [...galleryIds].toSorted()) await holdGallery(tx, galleryId, 'alone')
  const rows = await withoutRecord(tx, wanted)
  let deletedAgain = 0
  for (const { rowHash: _then, ...row } of rows) {
    const subject = await findSubject(tx, row.galleryId, row)
    if (subject) {
      await eraseSubject(tx, subject)
      deletedAgain++
    }
    await enterDeletion(tx, row)
  }
  return { entered: rows.length, deletedAgain }
}
