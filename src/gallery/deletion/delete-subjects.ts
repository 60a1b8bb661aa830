import { lockGallery } from '../../store/gallery/galleries.ts'
import type { ReadTx, Store, Tx } from '../../store/database.ts'
import type { DeletionRecord } from '../../store/gallery/deletions.ts'
import type { SubjectRow } from '../../store/gallery-schema.ts'
import { mapSequential } from '../../lib/account-context.ts'

export type DeleteSubjectsOptions = {
  readonly store: Store
  readonly remove: (tx: Tx, subject: SubjectRow) => Promise<DeletionRecord>
  readonly purge: (galleryId: string) => Promise<void>
  /** The most subjects to delete; no limit by default. */
  readonly subjectsMax?: number
}

/** The part of the subjects to read: at most `limit` of them after the last deleted one. */
export type SubjectsToDelete = {
  readonly after: SubjectRow | undefined
  readonly limit: number
}

type FindSubjectsToDelete = (
  reading: ReadTx,
  part: SubjectsToDelete,
) => Promise<readonly SubjectRow[]>

/**
 * Subjects per transaction, so that no call waits long for it: SQLite deletes them in one turn of the
 * event loop.
 */
const deleteBatchSize = 20

export type DeletedSubjects = {
  readonly records: DeletionRecord[]
  /** Whether `findSubjects` has further subjects, because `subjectsMax` is reached. */
  readonly hasMore: boolean
}

/**
 * Deletes subjects in batches until `findSubjects` returns none. Each batch is a transaction that
 * reads only its own subjects, and continues after the last deleted one: an index entry of a deleted
 * subject may stay until the next vacuum. After an interruption, the next call deletes the rest.
 */
export async function deleteSubjects(
  { store, remove, purge, subjectsMax = Number.MAX_SAFE_INTEGER }: DeleteSubjectsOptions,
  findSubjects: FindSubjectsToDelete,
): Promise<DeletedSubjects> {
  const records: DeletionRecord[] = []
  const galleryIds = new Set<string>()
  let after: SubjectRow | undefined
  let hasMore = false
  for (;;) {
    // Usually there is nothing to delete: then no write transaction is needed.
    const part: SubjectsToDelete = { after, limit: 1 }
    if ((await store.read((reading) => findSubjects(reading, part))).length === 0) {
      if (!after) break
      // Subjects may have been added before this position meanwhile.
      after = undefined
      continue
    }
    const limit = Math.min(deleteBatchSize, subjectsMax - records.length)
    hasMore = limit === 0
    if (hasMore) break
    const deleted = await store.write(async (tx) =>
      mapSequential(await lockSubjects(tx, findSubjects, { ...part, limit }), async (subject) => ({
        subject,
        record: await remove(tx, subject),
      })),
    )
    for (const { subject, record } of deleted) {
      galleryIds.add(subject.galleryId)
      records.push(record)
    }
    after = deleted.at(-1)?.subject ?? after
  }
  for (const galleryId of galleryIds) await purge(galleryId)
  return { records, hasMore }
}

/** Locks the galleries of the subjects, finds the subjects again and returns a batch of them. */
async function lockSubjects(
  tx: Tx,
  findSubjects: FindSubjectsToDelete,
  part: SubjectsToDelete,
): Promise<readonly SubjectRow[]> {
  const galleryIds = new Set((await findSubjects(tx, part)).map(({ galleryId }) => galleryId))
  for (const galleryId of [...galleryIds].toSorted()) await lockGallery(tx, galleryId, 'exclusive')
  const subjects = await findSubjects(tx, part)
  return subjects.filter(({ galleryId }) => galleryIds.has(galleryId)).slice(0, part.limit)
}
