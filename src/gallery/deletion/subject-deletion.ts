import { mapSequential } from '../../lib/account-context.ts'
import { type Clock, formatUtc } from '../../lib/clock.ts'
import { newId } from '../../lib/ids.ts'
import type { ReadTx, Store, Tx } from '../../store/database.ts'
import type { SubjectRow } from '../../store/gallery-schema.ts'
import {
  type ChainedDeletion,
  findMergeRecords,
  missingDeletions,
} from '../../store/gallery/deletion-chain.ts'
import { findMergesOfSubject } from '../../store/gallery/duplicates/subject-merges.ts'
import { type DeletionRecord, addDeletion, appendDeletion } from '../../store/gallery/deletions.ts'
import { findSubjectFaces, removeFaces } from '../../store/gallery/faces.ts'
import { limitByMatches } from '../../store/gallery/feedback/match-verdicts.ts'
import { findGallery, lockGallery, recordGalleryChange } from '../../store/gallery/galleries.ts'
import { findSubjectGroups } from '../../store/gallery/groups.ts'
import { cursorOf } from '../../store/gallery/search/subject-order.ts'
import {
  findSubjects,
  findSubjectsByIds,
  removeSubject,
  updateSubjectRow,
} from '../../store/gallery/subjects.ts'
import { findProjectVisitors, visitorsGalleryId } from '../../store/gallery/visitors.ts'
import { scrubResponses } from '../../store/gate/stored-responses.ts'
import { readDeletionsFile } from './deletions-file.ts'

/**
 * Deletes a subject with all its data and adds a deletion record.
 *
 * @param target the subject that receives its faces. The deletion of this one is then the deletion of
 *   both in an older copy of the database.
 */
export async function deleteSubject(
  tx: Tx,
  subject: SubjectRow,
  nowUtc: string,
  target?: SubjectRow,
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
  const own = JSON.stringify(formerIdsOf(subject))
  const [mergedInto, formerIds] = target ? [target.subjectId, '[]'] : [null, own]
  await addDeletion(tx, { galleryId, mergedInto, formerIds }, record)
  if (target) await addFormerIds(tx, target, [subjectId, ...formerIdsOf(subject)])
  return record
}

/** The ids of the subjects and visitors whose faces a subject received. */
export function formerIdsOf({ formerIds = '[]' }: Pick<SubjectRow, 'formerIds'>) {
  return JSON.parse(formerIds) as readonly string[]
}

async function addFormerIds(tx: Tx, { subjectId, ...subject }: SubjectRow, ids: readonly string[]) {
  const formerIds = JSON.stringify([...formerIdsOf(subject), ...ids])
  await updateSubjectRow(tx, subjectId, { formerIds })
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
  /** Merges of the copy that were undone since. The separated subjects were deleted. */
  readonly undoneMerges: readonly string[]
  /** Bytes of the last line if it is incomplete. It was ignored. */
  readonly incompleteBytes: number
}

/** Records per query for missing ones. */
const lookupBatchSize = 500
/** Records inserted per transaction, so that no call waits long for it. */
const insertBatchSize = 50

/**
 * Deletes all subjects of the file that an older copy of the database contains, except for merged ones
 * whose faces were not deleted since, and inserts their deletion records unchanged. If the copy has newer records itself, the records are appended.
 *
 * Must run before the copy serves requests. Existing records are skipped, so the function can be
 * repeated, also by several processes at the same time.
 *
 * @param onFirstBatch runs in the first transaction that inserts records.
 * @throws Error as `readDeletionsFile`, and if the file has no complete line but is not empty.
 */
export async function replayDeletions(
  store: Store,
  file: string,
  onFirstBatch?: (tx: Tx) => Promise<void>,
): Promise<ReplayDeletionsResult> {
  let inserted = 0
  let deletedAgain = 0
  const undoneMerges: string[] = []
  const pending: ChainedDeletion[] = []
  const { records, incompleteBytes } = await readDeletionsFile(file, async (row) => {
    pending.push(row)
    if (pending.length === lookupBatchSize) await replayPending()
  })
  if (records === 0 && incompleteBytes > 0)
    throw new Error(`${file} has no complete line: it was not copied or exported completely`)
  await replayPending()
  if (deletedAgain > 0) await store.checkpoint()
  return { records, inserted, deletedAgain, undoneMerges, incompleteBytes }

  async function replayPending(): Promise<void> {
    const rows = pending.splice(0)
    const missing = await store.read((reading) => missingDeletions(reading, rows))
    for (let from = 0; from < missing.length; from += insertBatchSize) {
      const batch = missing.slice(from, from + insertBatchSize)
      const result = await store.write(async (tx) => {
        const replayed = await replayBatch(tx, batch)
        if (inserted === 0 && replayed.inserted > 0) await onFirstBatch?.(tx)
        return replayed
      })
      deletedAgain += result.deletedAgain
      undoneMerges.push(...result.undoneMerges)
      inserted += result.inserted
    }
  }
}

async function replayBatch(tx: Tx, batch: readonly ChainedDeletion[]) {
  const galleryIds = new Set(batch.flatMap(({ galleryId }) => withVisitors(galleryId)))
  for (const galleryId of [...galleryIds].toSorted()) await lockGallery(tx, galleryId, 'exclusive')
  const rows = await missingDeletions(tx, batch)
  let deletedAgain = 0
  const undoneMerges: string[] = []
  for (const { rowHash: _exportedHash, ...row } of rows) {
    // The faces of a merged subject were not deleted: it stays as in the copy.
    const ids = row.mergedInto === null ? [row.subjectId, ...formerIdsOf(row)] : []
    for (const galleryId of withVisitors(row.galleryId))
      for (const subject of await findSubjectsByIds(tx, galleryId, ids)) {
        await eraseSubject(tx, subject)
        deletedAgain++
      }
    if (row.mergedInto === null) undoneMerges.push(...(await findUndone(tx, formerIdsOf(row))))
    await appendDeletion(tx, row)
  }
  return { inserted: rows.length, deletedAgain, undoneMerges }
}

/** Finds the merges of these subjects that can be undone: their faces are in other subjects. */
async function findUndone(tx: Tx, subjectIds: readonly string[]): Promise<readonly string[]> {
  const merged = await findMergeRecords(tx, subjectIds)
  const merges = await mapSequential(merged, async ({ mergedInto, deletedAtUtc }) => {
    const ofTarget = await findMergesOfSubject(tx, mergedInto ?? '')
    return ofTarget.filter(({ mergedAtMs }) => mergedAtMs === Date.parse(deletedAtUtc))
  })
  return merges.flat().map(({ mergeId }) => mergeId)
}

/** A subject can have received the faces of visitors of its gallery. */
const withVisitors = (galleryId: string) => [galleryId, visitorsGalleryId(galleryId)]

type DeleteSubjectsOptions = {
  readonly store: Store
  readonly remove: (tx: Tx, subject: SubjectRow) => Promise<DeletionRecord>
  readonly purge: (galleryId: string) => Promise<void>
  /** The most subjects to delete; no limit by default. */
  readonly subjectsMax?: number
}

/** Returns how a command deletes subjects: the gallery is not in its memory. */
export function deletionOfCommand(store: Store, clock: Clock): DeleteSubjectsOptions {
  return {
    store,
    remove: (tx, subject) => deleteSubject(tx, subject, formatUtc(clock())),
    purge: async () => void (await store.checkpoint()),
  }
}

/** The part of the subjects to read: at most `limit` of them after the last deleted one. */
type SubjectsToDelete = {
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

/** Deletes all subjects of a gallery. */
export function clearGallery(
  options: DeleteSubjectsOptions,
  galleryId: string,
): Promise<DeletedSubjects> {
  return deleteSubjects(options, (reading, { after, limit }) =>
    findSubjects(reading, { galleryId, after: after && cursorOf(after), limit }),
  )
}

/** Deletes the visitors of a project. */
export function clearVisitors(
  options: DeleteSubjectsOptions,
  projectId: string,
): Promise<DeletedSubjects> {
  return deleteSubjects(options, (reading, { limit }) =>
    findProjectVisitors(reading, { projectId, limit }),
  )
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
  const locked = subjects.filter(({ galleryId }) => galleryIds.has(galleryId))
  return limitByMatches(tx, locked.slice(0, part.limit))
}
