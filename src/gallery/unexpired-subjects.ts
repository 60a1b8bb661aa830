import { ActionError } from '../lib/errors.ts'
import { formatUtc } from '../lib/clock.ts'
import { findUnexpiredSize } from '../store/gallery/expired-subjects.ts'
import { findFaces } from '../store/gallery/faces.ts'
import type { GallerySize } from '../store/gallery/galleries.ts'
import { listGroups } from '../store/gallery/groups.ts'
import {
  countSubjects,
  readSubjects,
  type CountSubjects,
  type LoadSubjects,
  type SubjectSource,
} from '../store/gallery/search/search-subjects.ts'
import {
  findSubject,
  findSubjects,
  findSubjectsByIds,
  type SubjectFilter,
} from '../store/gallery/subjects.ts'
import type { SubjectRow } from '../store/gallery-schema.ts'
import type { ReadTx, Tx } from '../store/tx.ts'
import { deleteSubject } from './deletion/delete-subject.ts'

/**
 * Returns reads that leave out expired subjects. An expired subject does not exist for any call,
 * although the sweep deletes it up to a minute later.
 */
export function createUnexpiredReads(source: SubjectSource, nowUtc: () => string) {
  const size = (reading: ReadTx, galleryId: string): Promise<GallerySize> =>
    findUnexpiredSize(reading, { galleryId, nowUtc: nowUtc() })
  const find: typeof findSubject = async (reading, galleryId, lookup) => {
    const subject = await findSubject(reading, galleryId, lookup)
    return subject && !hasExpired(subject, nowUtc()) ? subject : undefined
  }
  const findByIds: typeof findSubjectsByIds = async (reading, galleryId, subjectIds) => {
    const subjects = await findSubjectsByIds(reading, galleryId, subjectIds)
    return subjects.filter((subject) => !hasExpired(subject, nowUtc()))
  }
  const list: typeof findSubjects = (reading, filter) =>
    findSubjects(reading, { ...filter, unexpiredAtUtc: nowUtc() })
  const listFaces: typeof findFaces = (reading, filter) =>
    findFaces(reading, { ...filter, unexpiredAtUtc: nowUtc() })
  const listUnexpiredGroups: typeof listGroups = (reading, galleryId, filter) =>
    listGroups(reading, galleryId, { ...filter, unexpiredAtUtc: nowUtc() })
  const search = <T>(filter: SubjectFilter, load: LoadSubjects<T>): Promise<T> =>
    readSubjects(source, { ...filter, unexpiredAtUtc: nowUtc() }, load)
  const countListed: CountSubjects = async (filter) => {
    const { galleryId, limit: _limit, after: _after, sort: _sort, ...conditions } = filter
    if (Object.values(conditions).some((condition) => condition !== undefined))
      return countSubjects(source, { ...filter, unexpiredAtUtc: nowUtc() })
    // Without conditions the gallery has a counter.
    const { subjectCount } = await source.read((reading) => size(reading, galleryId))
    return { total: subjectCount, isCapped: false }
  }
  const lists = {
    list,
    countSubjects: countListed,
    listFaces,
    listGroups: listUnexpiredGroups,
    readSubjects: search,
  }
  return { size, find, findByIds, ...lists }
}

/** Whether a subject has expired; it has from the millisecond of its expiry time. */
export function hasExpired(
  { expiresAtUtc }: Pick<SubjectRow, 'expiresAtUtc'>,
  nowUtc: string,
): boolean {
  return expiresAtUtc !== null && expiresAtUtc <= nowUtc
}

/** @throws ActionError INVALID_REQUEST unless the time, if there is one, is in the future. */
export function requireFutureExpiry(expiresAtUtc: string | null | undefined, nowMs: number): void {
  if (!expiresAtUtc || Date.parse(expiresAtUtc) > nowMs) return
  throw new ActionError(
    'INVALID_REQUEST',
    `params.expiresAtUtc: must be after ${formatUtc(nowMs)}, the current time of the service`,
  )
}

/**
 * Returns the subject that has an external id. An expired one is deleted instead, with a deletion
 * record, so that another subject can have the id.
 *
 * @param onDeleted is called after the deletion of an expired subject, in the same transaction.
 */
export async function findExternalIdHolder(
  tx: Tx,
  { galleryId, externalId }: { readonly galleryId: string; readonly externalId: string },
  { nowUtc, onDeleted }: { readonly nowUtc: string; readonly onDeleted: OnExpiredDeleted },
): Promise<SubjectRow | undefined> {
  const holder = await findSubject(tx, galleryId, { externalId })
  if (!holder || !hasExpired(holder, nowUtc)) return holder
  await deleteSubject(tx, holder, nowUtc)
  await onDeleted(tx, holder, nowUtc)
  return undefined
}

export type OnExpiredDeleted = (tx: Tx, subject: SubjectRow, nowUtc: string) => Promise<void> | void
