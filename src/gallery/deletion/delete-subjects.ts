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

/** Subjects deleted in one transaction, so that no call waits long behind it. */
const deleteBatchSize = 50

/** Deletes all subjects that `wanted` finds, asking it again in each transaction. */
export async function deleteSubjects(
  { store, remove, purge: forget }: DeleteSubjectsOptions,
  wanted: (reading: ReadTx) => Promise<readonly SubjectRow[]>,
): Promise<DeletionRecord[]> {
  const records: DeletionRecord[] = []
  const galleryIds = new Set<string>()
  // Most of the time there is nothing to do, and the writer is not bothered.
  while ((await store.read(wanted)).length > 0) {
    const some = await store.write(async (tx) =>
      mapSequential(await lockedSubjects(tx, wanted), async (subject) => ({
        galleryId: subject.galleryId,
        record: await remove(tx, subject),
      })),
    )
    for (const { galleryId, record } of some) {
      galleryIds.add(galleryId)
      records.push(record)
    }
  }
  for (const galleryId of galleryIds) await forget(galleryId)
  return records
}

/** Some of the wanted, as they stand once nobody else can change their galleries. */
async function lockedSubjects(
  tx: Tx,
  wanted: (reading: ReadTx) => Promise<readonly SubjectRow[]>,
): Promise<readonly SubjectRow[]> {
  const galleryIds = new Set((await wanted(tx)).map(({ galleryId }) => galleryId))
  for (const galleryId of [...galleryIds].toSorted()) await lockGallery(tx, galleryId, 'exclusive')
  const held = (await wanted(tx)).filter(({ galleryId }) => galleryIds.has(galleryId))
  return held.slice(0, deleteBatchSize)
}
