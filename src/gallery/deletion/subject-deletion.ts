import { newId } from '../../lib/ids.ts'
import type { Store, Tx } from '../../store/database.ts'
import type { SubjectRow } from '../../store/gallery-schema.ts'
import { type ChainedDeletion, withoutDeletionRecord } from '../../store/gallery/deletion-chain.ts'
import { type DeletionRecord, addDeletion, appendDeletion } from '../../store/gallery/deletions.ts'
import { findSubjectFaces, removeFaces } from '../../store/gallery/faces.ts'
import { findGallery, lockGallery, recordGalleryChange } from '../../store/gallery/galleries.ts'
import { findSubjectGroups } from '../../store/gallery/groups.ts'
import { findSubject, removeSubject } from '../../store/gallery/subjects.ts'
import { scrubResponses } from '../../store/gate/stored-responses.ts'
import { readDeletionsFile } from './deletions-file.ts'

/** Deletes a subject with all its data and adds a deletion record. */
export async function deleteSubject(
  tx: Tx,
  subject: SubjectRow,
  nowUtc: string,
): Promise<DeletionRecord> {
  const { subjectId, galleryId, externalId } = subject
  const record: DeletionRecord = {
    deletionId: newId(),
    subjectId,
    tenantId: (await findGallery(tx, galleryId))?.accountId ?? '',
    groups: [...((await findSubjectGroups(tx, [subjectId])).get(subjectId) ?? [])],
    externalId,
    embeddingCount: await eraseSubject(tx, subject),
    deletedAtUtc: nowUtc,
  }
  await addDeletion(tx, galleryId, record)
  return record
}

/**
 * Deletes the subject's key, templates, crops, attributes and group links, and removes its data from
 * stored responses. Adds no deletion record.
 *
 * @returns the number of deleted faces.
 */
async function eraseSubject(
  tx: Tx,
  { subjectId, galleryId }: Pick<SubjectRow, 'subjectId' | 'galleryId'>,
): Promise<number> {
  const faceIds = (await findSubjectFaces(tx, subjectId)).map(({ faceId }) => faceId)
  const sequence = await recordGalleryChange(tx, {
    galleryId,
    subjects: -1,
    faces: -faceIds.length,
  })
  await removeFaces(tx, { galleryId, subjectId, sequence }, faceIds)
  await removeSubject(tx, subjectId)
  await scrubResponses(tx, subjectId)
  return faceIds.length
}

export type ReplayDeletionsResult = {
  /** Records in the file. */
  readonly records: number
  /** Records that the database did not contain. */
  readonly inserted: number
  /** Subjects that were present and have been deleted again. */
  readonly deletedAgain: number
}

/** Records per query for missing ones. */
const lookupBatchSize = 500
/** Records inserted per transaction, so that no call waits long for it. */
const insertBatchSize = 50

/**
 * Deletes all subjects of the file that an older copy of the database contains, and inserts their
 * deletion records unchanged. If the copy has newer records itself, the records are appended.
 *
 * Must run before the copy serves requests. Existing records are skipped, so the function can be
 * repeated, also by several processes at the same time.
 *
 * @param onFirstBatch runs in the first transaction that inserts records.
 */
export async function replayDeletions(
  store: Store,
  file: string,
  onFirstBatch?: (tx: Tx) => Promise<void>,
): Promise<ReplayDeletionsResult> {
  let inserted = 0
  let deletedAgain = 0
  const pending: ChainedDeletion[] = []
  const { records } = await readDeletionsFile(file, async (row) => {
    pending.push(row)
    if (pending.length === lookupBatchSize) await replayPending()
  })
  await replayPending()
  if (deletedAgain > 0) await store.checkpoint()
  return { records, inserted, deletedAgain }

  async function replayPending(): Promise<void> {
    const rows = pending.splice(0)
    const missing = await store.read((reading) => withoutDeletionRecord(reading, rows))
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
  }
}

async function replayBatch(tx: Tx, batch: readonly ChainedDeletion[]) {
  const galleryIds = new Set(batch.map(({ galleryId }) => galleryId))
  for (const galleryId of [...galleryIds].toSorted()) await lockGallery(tx, galleryId, 'exclusive')
  const rows = await withoutDeletionRecord(tx, batch)
  let deletedAgain = 0
  for (const { rowHash: _exportedHash, ...row } of rows) {
    const subject = await findSubject(tx, row.galleryId, row)
    if (subject) {
      await eraseSubject(tx, subject)
      deletedAgain++
    }
    await appendDeletion(tx, row)
  }
  return { inserted: rows.length, deletedAgain }
}
