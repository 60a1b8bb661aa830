import { mapSequential } from '../../lib/account-context.ts'
import { type Clock, formatUtc } from '../../lib/clock.ts'
import { newId } from '../../lib/ids.ts'
import type { ReadTx, Store, Tx } from '../../store/database.ts'
import type { SubjectRow } from '../../store/gallery-schema.ts'
import { type DeletionRecord, addDeletion } from '../../store/gallery/deletions.ts'
import { findSubjectFaces, removeFaces } from '../../store/gallery/faces.ts'
import {
  limitByMatches,
  removeCountedVerdicts,
} from '../../store/gallery/feedback/match-verdicts.ts'
import { requireFewNearMisses } from '../../store/gallery/feedback/near-miss-crops.ts'
import { findGallery, lockGallery, recordGalleryChange } from '../../store/gallery/galleries.ts'
import { findSubjectGroups } from '../../store/gallery/groups.ts'
import { cursorOf } from '../../store/gallery/search/subject-order.ts'
import {
  findSubjects,
  findSubjectsInGroup,
  removeSubject,
  updateSubjectRow,
} from '../../store/gallery/subjects.ts'
import { findProjectVisitors } from '../../store/gallery/visitors.ts'
import { scrubResponses } from '../../store/gate/stored-responses.ts'

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
  const formerIds = formerIdsOf(subject)
  const origin = target
    ? { mergedInto: target.subjectId, formerIds: '[]' }
    : { mergedInto: null, formerIds: JSON.stringify(formerIds) }
  await addDeletion(tx, { galleryId, ...origin }, record)
  if (target) await storeFormerIds(tx, target, [...formerIdsOf(target), subjectId, ...formerIds])
  return record
}

/** The ids of the subjects and visitors whose faces a subject received. */
export function formerIdsOf({ formerIds = '[]' }: Pick<SubjectRow, 'formerIds'>) {
  return JSON.parse(formerIds) as readonly string[]
}

export async function storeFormerIds(
  tx: Tx,
  { subjectId }: Pick<SubjectRow, 'subjectId'>,
  formerIds: readonly string[],
): Promise<void> {
  await updateSubjectRow(tx, subjectId, { formerIds: JSON.stringify(formerIds) })
}

/**
 * Deletes the subject's key, templates, crops, attributes and group links, and removes its data from
 * stored responses. Adds no deletion record.
 *
 * @returns the number of deleted faces.
 */
export async function eraseSubject(
  tx: Tx,
  { subjectId, galleryId }: Pick<SubjectRow, 'subjectId' | 'galleryId'>,
): Promise<number> {
  await scrubResponses(tx, subjectId)
  await removeCountedVerdicts(tx, subjectId)
  await requireFewNearMisses(tx, subjectId)
  const faceIds = (await findSubjectFaces(tx, subjectId)).map(({ faceId }) => faceId)
  const sequence = await recordGalleryChange(tx, {
    galleryId,
    subjects: -1,
    faces: -faceIds.length,
  })
  await removeFaces(tx, { galleryId, subjectId, sequence }, faceIds)
  await removeSubject(tx, subjectId)
  return faceIds.length
}

type DeleteSubjectsOptions = {
  readonly store: Store
  readonly remove: (tx: Tx, subject: SubjectRow) => Promise<DeletionRecord>
  readonly purge: (galleryId: string) => Promise<void>
  /** By default all subjects are deleted. */
  readonly limits?: DeletionLimits
}

/** How many subjects one call deletes at most, and the time after which it begins no further batch. */
export type DeletionLimits = {
  readonly subjectsMax: number
  readonly durationMsMax: number
  readonly clock: Clock
}

const noLimits = { subjectsMax: Number.MAX_SAFE_INTEGER, durationMsMax: Infinity, clock: Date.now }

/** Returns how a command deletes subjects: the gallery is not in its memory. */
export function deletionOfCommand(store: Store, clock: Clock): DeleteSubjectsOptions {
  return {
    store,
    remove: (tx, subject) => deleteSubject(tx, subject, formatUtc(clock())),
    purge: async () => void (await store.checkpoint()),
  }
}

/** Finds at most `limit` of the subjects to delete, after the last deleted one. */
type FindSubjectsToDelete = (
  reading: ReadTx,
  batch: { readonly after: SubjectRow | undefined; readonly limit: number },
) => Promise<readonly SubjectRow[]>

/**
 * The most subjects of a transaction, and the time in ms after which it deletes no further one, so that
 * no call waits long for it: SQLite deletes them in one turn of the event loop. In a large gallery, a
 * deletion takes several milliseconds.
 */
const deleteBatchSize = 20
export const deleteBatchMs = 10

/**
 * Deletes subjects in batches until `findSubjects` returns none. Each batch is a transaction that
 * reads only its own subjects, and continues after the last deleted one: an index entry of a deleted
 * subject may stay until the next vacuum. After an interruption, the next call deletes the rest.
 */
export async function deleteSubjects(
  options: DeleteSubjectsOptions,
  findSubjects: FindSubjectsToDelete,
) {
  const deleted: DeletedSubject[] = []
  try {
    /** Whether `findSubjects` may have further subjects, because the call has limits. */
    const hasMore = await deletePart(options, findSubjects, deleted)
    return { records: deleted.map(({ record }) => record), hasMore }
  } finally {
    const galleryIds = new Set(deleted.map(({ subject }) => subject.galleryId))
    for (const galleryId of galleryIds) await options.purge(galleryId)
  }
}

type DeletedSubject = { readonly subject: SubjectRow; readonly record: DeletionRecord }

/** Adds the subjects of each committed batch to `deleted`. @returns whether subjects are left. */
async function deletePart(
  { store, remove, limits = noLimits }: DeleteSubjectsOptions,
  findSubjects: FindSubjectsToDelete,
  deleted: DeletedSubject[],
): Promise<boolean> {
  const endMs = limits.clock() + limits.durationMsMax
  let after: SubjectRow | undefined
  let batchSize = deleteBatchSize
  for (;;) {
    // Usually there is nothing to delete: then no write transaction is needed.
    const batch = { after, limit: 1 }
    if ((await store.read((reading) => findSubjects(reading, batch))).length === 0) {
      if (!after) return false
      // Subjects may have been added before this position meanwhile.
      after = undefined
      continue
    }
    const limit = Math.min(batchSize, limits.subjectsMax - deleted.length)
    if (limit === 0 || (deleted.length > 0 && limits.clock() > endMs)) return true
    const removed = await store.write(async (tx) => {
      const subjects = await lockSubjects(tx, (locked) => findSubjects(locked, { ...batch, limit }))
      const end = async (subject: SubjectRow) => ({ subject, record: await remove(tx, subject) })
      return mapSequential(subjects, end, deleteBatchMs)
    })
    batchSize = Math.max(1, Math.min(deleteBatchSize, 2 * removed.length))
    deleted.push(...removed)
    after = removed.at(-1)?.subject ?? after
  }
}

/** Deletes subjects of a group until one of the limits is reached. */
export function deleteGroup(
  options: DeleteSubjectsOptions,
  group: { readonly galleryId: string; readonly name: string },
) {
  return deleteSubjects(options, (reading, batch) => findSubjectsInGroup(reading, group, batch))
}

/** Deletes all subjects of a gallery. */
export function clearGallery(options: DeleteSubjectsOptions, galleryId: string) {
  return deleteSubjects(options, (reading, { after, limit }) =>
    findSubjects(reading, { galleryId, after: after && cursorOf(after), limit }),
  )
}

/** Deletes the visitors of a project. */
export function clearVisitors(options: DeleteSubjectsOptions, projectId: string) {
  return deleteSubjects(options, (reading, { limit }) =>
    findProjectVisitors(reading, { projectId, limit }),
  )
}

/** Locks the galleries of the subjects, finds the subjects again and returns a batch of them. */
async function lockSubjects(tx: Tx, find: (tx: Tx) => ReturnType<FindSubjectsToDelete>) {
  const galleryIds = new Set((await find(tx)).map(({ galleryId }) => galleryId))
  for (const galleryId of [...galleryIds].toSorted()) await lockGallery(tx, galleryId, 'exclusive')
  const locked = (await find(tx)).filter(({ galleryId }) => galleryIds.has(galleryId))
  return limitByMatches(tx, locked)
}
