import type { Store } from '../../store/database.ts'
import { withoutDeletionRecord, type ChainedDeletion } from '../../store/gallery/deletion-chain.ts'
import { appendDeletion } from '../../store/gallery/deletions.ts'
import { lockGallery } from '../../store/gallery/galleries.ts'
import { findSubject } from '../../store/gallery/subjects.ts'
import type { Tx } from '../../store/tx.ts'
import { readDeletionsFile } from './deletions-file.ts'
import { eraseSubject } from './delete-subject.ts'

export type ReplayDeletionsResult = {
  /** Records of the file, those of them that the database did not have, and who had come back. */
  readonly records: number
  readonly inserted: number
  readonly deletedAgain: number
}

/** Looked up at once; and entered in one transaction, so that no call waits long behind it. */
const lookupBatchSize = 500
const insertBatchSize = 50

/**
 * Deletes again whoever has come back with an older copy of the database, and enters the records of
 * their deletion as they were; where the copy went its own way meanwhile, behind what it has. To be
 * done before the copy answers anything. Who has a record already is passed over, so it may be run
 * again, and by several at once.
 */
export async function replayDeletions(store: Store, file: string): Promise<ReplayDeletionsResult> {
  let entered = 0
  let deletedAgain = 0
  const waiting: ChainedDeletion[] = []
  const { records } = await readDeletionsFile(file, async (row) => {
    waiting.push(row)
    if (waiting.length === lookupBatchSize) await work()
  })
  await work()
  if (deletedAgain > 0) await store.checkpoint()
  return { records, inserted: entered, deletedAgain }

  async function work(): Promise<void> {
    const rows = waiting.splice(0)
    const missing = await store.read((reading) => withoutDeletionRecord(reading, rows))
    for (let at = 0; at < missing.length; at += insertBatchSize) {
      const some = missing.slice(at, at + insertBatchSize)
      const done = await store.write((tx) => deleteAgain(tx, some))
      deletedAgain += done.deletedAgain
      entered += done.entered
    }
  }
}

async function deleteAgain(tx: Tx, wanted: readonly ChainedDeletion[]) {
  const galleryIds = new Set(wanted.map(({ galleryId }) => galleryId))
  for (const galleryId of [...galleryIds].toSorted()) await lockGallery(tx, galleryId, 'exclusive')
  const rows = await withoutDeletionRecord(tx, wanted)
  let deletedAgain = 0
  for (const { rowHash: _then, ...row } of rows) {
    const subject = await findSubject(tx, row.galleryId, row)
    if (subject) {
      await eraseSubject(tx, subject)
      deletedAgain++
    }
    await appendDeletion(tx, row)
  }
  return { entered: rows.length, deletedAgain }
}
