import { mapSequential } from '../../lib/account-context.ts'
import type { Store, Tx } from '../../store/database.ts'
import {
  type ChainedDeletion,
  findMergesOfDeleted,
  missingDeletions,
} from '../../store/gallery/deletion-chain.ts'
import { appendDeletion } from '../../store/gallery/deletions.ts'
import { lockGallery } from '../../store/gallery/galleries.ts'
import { findSubjectsByIds } from '../../store/gallery/subjects.ts'
import { visitorsGalleryId } from '../../store/gallery/visitors.ts'
import { listAccounts, listFrozenAccounts } from '../../store/tenancy/projects.ts'
import { readDeletionsFile } from './deletions-file.ts'
import { eraseSubject, formerIdsOf } from './subject-deletion.ts'

export type ReplayDeletionsResult = {
  /** Records in the file. */
  readonly records: number
  /** Records of accounts that the database does not contain, such as moved ones. */
  readonly skipped: number
  /** Records that the database did not contain. */
  readonly inserted: number
  /** Subjects that were present and have been deleted again. */
  readonly deletedAgain: number
  /**
   * Merges of the copy that were undone since, also those of records that an earlier run inserted. The
   * separated subjects were deleted.
   */
  readonly undoneMerges: readonly string[]
  /** Bytes of the last line if it is incomplete. It was ignored. */
  readonly incompleteBytes: number
}

/** What to do about `undoneMerges`. */
export const undoneMergesAdvice =
  'people who were deleted are still in merged subjects: undo each of these merges with facegate subject unmerge, and delete the separated subject'

/** Records per query for missing ones, and ids per query for merges. */
const lookupBatchSize = 500
/** Records inserted per transaction, so that no call waits long for it. */
const insertBatchSize = 50

/**
 * Deletes all subjects of the file that an older copy of the database contains, except for merged ones
 * whose faces were not deleted since, and inserts their deletion records unchanged. If the copy has
 * newer records itself, the records are appended. Records of accounts that the database does not contain
 * are skipped: a file keeps those of an account that was moved and removed.
 *
 * Must run before the copy serves requests. Existing records are skipped, so the function can be
 * repeated, also by several processes at the same time.
 *
 * @param onFirstBatch runs in the first transaction that inserts records.
 * @throws Error as `readDeletionsFile`, and if the file has no complete line but is not empty; also,
 *   after the records of the other accounts, if records of a frozen account are missing.
 */
export async function replayDeletions(
  store: Store,
  file: string,
  onFirstBatch?: (tx: Tx) => Promise<void>,
): Promise<ReplayDeletionsResult> {
  let [skipped, inserted, deletedAgain] = [0, 0, 0]
  const accountIds = new Set((await listAccounts(store.db)).map(({ accountId }) => accountId))
  const frozenIds = new Set(await listFrozenAccounts(store.db))
  const mergedIds: string[] = []
  const pending: ChainedDeletion[] = []
  const incompleteIds = new Set<string>()
  const { records, incompleteBytes } = await readDeletionsFile(file, async (row) => {
    if (accountIds.has(row.accountId)) pending.push(row)
    else skipped++
    if (pending.length === lookupBatchSize) await replayPending()
  })
  if (records === 0 && incompleteBytes > 0)
    throw new Error(`${file} has no complete line: it was not copied or exported completely`)
  await replayPending()
  if (deletedAgain > 0) await store.checkpoint()
  if (incompleteIds.size > 0)
    throw new Error(
      `deletion records of accounts that are frozen by a move are missing: ${[...incompleteIds].join(', ')}. ` +
        'Cancel the move (facegate account move --cancel) or remove the account (facegate account remove), and replay the records again',
    )
  // A later record can have deleted the subject that contained the faces.
  const undone = await findUndone(store, mergedIds)
  const undoneMerges = [...new Set(undone.map(({ mergeId }) => mergeId))]
  return { records, skipped, inserted, deletedAgain, undoneMerges, incompleteBytes }

  async function replayPending(): Promise<void> {
    const rows = pending.splice(0)
    const found = await store.read((reading) => missingDeletions(reading, rows))
    const missing = found.filter(({ accountId }) => !frozenIds.has(accountId))
    for (const { accountId } of found) if (frozenIds.has(accountId)) incompleteIds.add(accountId)
    for (let from = 0; from < missing.length; from += insertBatchSize) {
      const batch = missing.slice(from, from + insertBatchSize)
      const result = await store.write(async (tx) => {
        const replayed = await replayBatch(tx, batch)
        if (inserted === 0 && replayed.inserted > 0) await onFirstBatch?.(tx)
        return replayed
      })
      deletedAgain += result.deletedAgain
      inserted += result.inserted
    }
    const deleted = rows.filter(({ mergedInto }) => mergedInto === null)
    const undone = await findUndone(store, deleted.flatMap(formerIdsOf))
    mergedIds.push(...undone.map(({ subjectId }) => subjectId))
  }
}

async function replayBatch(tx: Tx, batch: readonly ChainedDeletion[]) {
  const galleryIds = new Set(batch.flatMap(({ galleryId }) => withVisitors(galleryId)))
  for (const galleryId of [...galleryIds].toSorted()) await lockGallery(tx, galleryId, 'exclusive')
  const rows = await missingDeletions(tx, batch)
  let deletedAgain = 0
  for (const { rowHash: _exportedHash, ...row } of rows) {
    // The faces of a merged subject were not deleted: it stays as in the copy.
    if (row.mergedInto === null)
      deletedAgain += await eraseAgain(tx, row.galleryId, [row.subjectId, ...formerIdsOf(row)])
    await appendDeletion(tx, row)
  }
  return { inserted: rows.length, deletedAgain }
}

/** Erases those of these subjects and visitors that the copy contains. @returns their number. */
async function eraseAgain(tx: Tx, galleryId: string, subjectIds: readonly string[]) {
  const found = await mapSequential(withVisitors(galleryId), (id) =>
    findSubjectsByIds(tx, id, subjectIds),
  )
  const subjects = found.flat()
  await mapSequential(subjects, (subject) => eraseSubject(tx, subject))
  return subjects.length
}

/** Finds the merges of these subjects that exist: their faces are in other subjects. */
async function findUndone(store: Store, subjectIds: readonly string[]) {
  const undone: Awaited<ReturnType<typeof findMergesOfDeleted>> = []
  for (let from = 0; from < subjectIds.length; from += lookupBatchSize) {
    const ids = subjectIds.slice(from, from + lookupBatchSize)
    undone.push(...(await store.read((reading) => findMergesOfDeleted(reading, ids))))
  }
  // Another merge into the same subject can have the same time.
  return undone.filter(({ subjectId, ...target }) => formerIdsOf(target).includes(subjectId))
}

/** A subject can have received the faces of visitors of its gallery. */
const withVisitors = (galleryId: string) => [galleryId, visitorsGalleryId(galleryId)]
