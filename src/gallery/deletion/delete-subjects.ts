import { mapSequential } from '../../lib/map-sequential.ts'
import { lockGallery } from '../../store/gallery/galleries.ts'
import type { Store } from '../../store/database.ts'
import type { DeletionRecord } from '../../store/gallery/deletions.ts'
import type { SubjectRow } from '../../store/schema.ts'
import type { ReadTx, Tx } from '../../store/tx.ts'

export type DeleteSubjectsOptions = {
  readonly store: Store
  readonly remove: (tx: Tx, subject: SubjectRow) => Promise<DeletionRecord>
  readonly purge: (galleryId: string) => Promise<void>
}

type FindSubjectsToDelete = (reading: ReadTx) => Promise<readonly SubjectRow[]>

/** Subjects per transaction, so that no call waits long for it. */
const deleteBatchSize = 50

/** Deletes subjects in batches until `findSubjects` returns none. */
export async function deleteSubjects(
  { store, remove, purge }: DeleteSubjectsOptions,
  findSubjects: FindSubjectsToDelete,
): Promise<DeletionRecord[]> {
  const records: DeletionRecord[] = []
  const galleryIds = new Set<string>()
  // Usually there is nothing to delete: then no write transaction is needed.
  while ((await store.read(findSubjects)).length > 0) {
    const deleted = await store.write(async (tx) =>
      mapSequential(await lockSubjects(tx, findSubjects), async (subject) => ({
        galleryId: subject.galleryId,
        record: await remove(tx, subject),
      })),
    )
    for (const { galleryId, record } of deleted) {
      galleryIds.add(galleryId)
      records.push(record)
    }
  }
  for (const galleryId of galleryIds) await purge(galleryId)
  return records
}

/** Locks the galleries of the subjects, finds the subjects again and returns a batch of them. */
async function lockSubjects(
  tx: Tx,
  findSubjects: FindSubjectsToDelete,
): Promise<readonly SubjectRow[]> {
  const galleryIds = new Set((await findSubjects(tx)).map(({ galleryId }) => galleryId))
  for (const galleryId of [...galleryIds].toSorted()) await lockGallery(tx, galleryId, 'exclusive')
  const subjects = await findSubjects(tx)
  return subjects.filter(({ galleryId }) => galleryIds.has(galleryId)).slice(0, deleteBatchSize)
}
