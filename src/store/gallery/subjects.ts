import type { Updateable } from 'kysely'
import { dialectOf } from '../dialect.ts'
import type { SubjectRow } from '../schema.ts'
import type { ReadTx, Tx } from '../tx.ts'

export type SubjectLookup = { readonly subjectId: string } | { readonly externalId: string }

/** A subject of the gallery by either of its ids. One of another gallery is not found. */
export async function findSubject(
  reading: ReadTx,
  galleryId: string,
  name: SubjectLookup,
): Promise<SubjectRow | undefined> {
  const query = reading.build.selectFrom('subjects').selectAll().where('galleryId', '=', galleryId)
  return (
    await reading.run(
      'subjectId' in name
        ? query.where('subjectId', '=', name.subjectId.toLowerCase())
        : query.where('externalId', '=', name.externalId),
    )
  )[0]
}

/** Finds subjects of the gallery by their ids, in one statement and in no particular order. */
export async function findSubjectsByIds(
  reading: ReadTx,
  galleryId: string,
  subjectIds: readonly string[],
): Promise<readonly SubjectRow[]> {
  if (subjectIds.length === 0) return []
  return reading.run(
    reading.build
      .selectFrom('subjects')
      .selectAll()
      .where('galleryId', '=', galleryId)
      .where('subjectId', 'in', subjectIds),
  )
}

export async function addSubject(tx: Tx, subject: SubjectRow): Promise<void> {
  await tx.run(tx.build.insertInto('subjects').values(subject))
}

export async function updateSubjectRow(
  tx: Tx,
  subjectId: string,
  change: Updateable<SubjectRow>,
): Promise<void> {
  await tx.run(tx.build.updateTable('subjects').set(change).where('subjectId', '=', subjectId))
}

/** Removes the row, and with it the key, the templates and the group links. */
export async function removeSubject(tx: Tx, subjectId: string): Promise<void> {
  await tx.run(tx.build.deleteFrom('subjects').where('subjectId', '=', subjectId))
}

/** Notes that subjects were met. Once a day is enough for retention and spares the disk. */
export async function touchSubjects(
  tx: Tx,
  subjectIds: readonly string[],
  nowUtc: string,
): Promise<void> {
  if (subjectIds.length === 0) return
  const today = nowUtc.slice(0, 'yyyy-mm-dd'.length)
  await tx.run(
    tx.build
      .updateTable('subjects')
      .set({ lastSeenAtUtc: nowUtc })
      .where('subjectId', 'in', subjectIds)
      .where('lastSeenAtUtc', '<', today),
  )
}

export type SubjectFilter = {
  readonly galleryId: string
  readonly externalId?: string | undefined
  readonly group?: string | undefined
  /** Part of the display name or the external id, in any case. */
  readonly text?: string | undefined
  /** From this moment on, and before that one. */
  readonly createdFromUtc?: string | undefined
  readonly createdToUtc?: string | undefined
  /** Where the page before ended. */
  readonly after?: SubjectCursor | undefined
  readonly limit: number
}

export type SubjectCursor = Pick<SubjectRow, 'createdAtUtc' | 'subjectId'>

/** Subjects in the order of their enrolment: whoever is enrolled meanwhile comes on a later page. */
export function findSubjects(
  reading: ReadTx,
  filter: SubjectFilter,
): Promise<readonly SubjectRow[]> {
  const { galleryId, externalId, group, text, createdFromUtc, createdToUtc, after } = filter
  let query = reading.build.selectFrom('subjects').selectAll().where('galleryId', '=', galleryId)
  if (externalId !== undefined) query = query.where('externalId', '=', externalId)
  if (createdFromUtc !== undefined) query = query.where('createdAtUtc', '>=', createdFromUtc)
  if (createdToUtc !== undefined) query = query.where('createdAtUtc', '<', createdToUtc)
  if (group !== undefined)
    query = query.where((row) =>
      row.exists(
        row
          .selectFrom('subjectGroups')
          .select('name')
          .whereRef('subjectGroups.subjectId', '=', 'subjects.subjectId')
          .where('name', '=', group),
      ),
    )
  if (text !== undefined) {
    const { contains } = dialectOf(reading.build)
    query = query.where((row) =>
      row.or([contains('displayName', text), contains('externalId', text)]),
    )
  }
  if (after)
    query = query.where((row) =>
      row(
        row.refTuple('createdAtUtc', 'subjectId'),
        '>',
        row.tuple(after.createdAtUtc, after.subjectId),
      ),
    )
  return reading.run(query.orderBy('createdAtUtc').orderBy('subjectId').limit(filter.limit))
}

/** The subjects of a group. */
export function findSubjectsInGroup(reading: ReadTx, galleryId: string, name: string) {
  const query = reading.build
    .selectFrom('subjectGroups')
    .innerJoin('subjects', 'subjects.subjectId', 'subjectGroups.subjectId')
    .selectAll('subjects')
    .where('subjectGroups.galleryId', '=', galleryId)
    .where('name', '=', name)
  return reading.run(query)
}

/** Subjects that were enrolled until a moment that is over. */
export function findExpiredSubjects(reading: ReadTx, nowUtc: string, limit: number) {
  return reading.run(
    reading.build
      .selectFrom('subjects')
      .selectAll()
      .where('expiresAtUtc', '<=', nowUtc)
      .limit(limit),
  )
}

export type UnseenFilter = {
  readonly projectId: string
  readonly beforeUtc: string
  readonly limit: number
}

/** Subjects of a project that nobody has met since. */
export function findUnseenSubjects(reading: ReadTx, { projectId, beforeUtc, limit }: UnseenFilter) {
  return reading.run(
    reading.build
      .selectFrom('subjects')
      .selectAll()
      .where('projectId', '=', projectId)
      .where('lastSeenAtUtc', '<', beforeUtc)
      .limit(limit),
  )
}

/** Subjects that are wrapped under a key. */
export function findSubjectsByKey(reading: ReadTx, keyId: string, limit: number) {
  return reading.run(
    reading.build.selectFrom('subjects').selectAll().where('keyId', '=', keyId).limit(limit),
  )
}
