import type { Updateable } from 'kysely'
import { dayOf } from '../../lib/clock.ts'
import { type ReadTx, type Tx, dialectOf } from '../database.ts'
import type { SubjectRow } from '../gallery-schema.ts'
import { countListed, selectPage, whereBetween } from '../lists.ts'
import { isUnexpired } from './expired-subjects.ts'
import type { AttributeFilter } from './search/attribute-filter.ts'
import { foldText, searchTextOf } from './search/search-text.ts'
import { enrollmentOrder, type SubjectCursor, type SubjectSort } from './search/subject-order.ts'

/** An external id is in Unicode NFC, as it is stored. */
export type SubjectLookup = { readonly subjectId: string } | { readonly externalId: string }

/** Finds a subject of the gallery by one of its ids. Subjects of other galleries are not found. */
export async function findSubject(
  tx: ReadTx,
  galleryId: string,
  lookup: SubjectLookup,
): Promise<SubjectRow | undefined> {
  const query = tx.build.selectFrom('subjects').selectAll().where('galleryId', '=', galleryId)
  if ('subjectId' in lookup)
    return (await tx.run(query.where('subjectId', '=', lookup.subjectId.toLowerCase())))[0]
  return (await tx.run(query.where('externalId', '=', lookup.externalId)))[0]
}

/** Finds subjects of the gallery by their ids, in one statement and in no particular order. */
export async function findSubjectsByIds(
  tx: ReadTx,
  galleryId: string,
  subjectIds: readonly string[],
): Promise<readonly SubjectRow[]> {
  if (subjectIds.length === 0) return []
  return tx.run(selectByIds(tx, galleryId, subjectIds).selectAll())
}

/** Finds the names of subjects of the gallery. Whole rows of 1,000 subjects take much longer. */
export async function findSubjectNames(
  tx: ReadTx,
  galleryId: string,
  subjectIds: readonly string[],
) {
  if (subjectIds.length === 0) return []
  const query = selectByIds(tx, galleryId, subjectIds)
  return tx.run(query.select(['subjectId', 'externalId', 'displayName', 'expiresAtUtc']))
}

/** For more than two ids, SQLite would read an index of the whole gallery, not the primary key. */
function selectByIds({ build }: ReadTx, galleryId: string, subjectIds: readonly string[]) {
  const query = build.selectFrom('subjects').where('subjectId', 'in', subjectIds)
  return query.where(dialectOf(build).withoutIndex('galleryId'), '=', galleryId)
}

/** Inserts a subject with a new key. */
export async function addSubject(tx: Tx, subject: SubjectRow): Promise<void> {
  const columns = { needsNewKey: 0, searchText: searchTextOf(subject) } as const
  await tx.run(tx.build.insertInto('subjects').values({ ...subject, ...columns }))
}

export async function updateSubjectRow(tx: Tx, subjectId: string, change: Updateable<SubjectRow>) {
  const text = await changedSearchText(tx, subjectId, change)
  const query = tx.build.updateTable('subjects').set({ ...change, ...text })
  await tx.run(query.where('subjectId', '=', subjectId))
}

async function changedSearchText(tx: Tx, subjectId: string, change: Updateable<SubjectRow>) {
  if (change.displayName === undefined && change.externalId === undefined) return {}
  const query = tx.build.selectFrom('subjects').select(['displayName', 'externalId'])
  const [names] = await tx.run(query.where('subjectId', '=', subjectId))
  if (!names) return {}
  const { displayName = names.displayName, externalId = names.externalId } = change
  return { searchText: searchTextOf({ displayName, externalId }) }
}

/** Deletes the row, and with it the key, the faces with their templates, and the group links. */
export async function removeSubject(tx: Tx, subjectId: string): Promise<void> {
  await tx.run(tx.build.deleteFrom('subjects').where('subjectId', '=', subjectId))
}

/** Records that subjects were matched. Once a day is enough for retention and saves disk writes. */
export async function touchSubjects(tx: Tx, subjectIds: readonly string[], nowUtc: string) {
  if (subjectIds.length === 0) return
  const touch = tx.build.updateTable('subjects').set({ lastSeenAtUtc: nowUtc })
  const matched = touch.where('subjectId', 'in', subjectIds)
  await tx.run(matched.where('lastSeenAtUtc', '<', dayOf(nowUtc)))
}

export type SubjectFilter = {
  readonly galleryId: string
  readonly externalId?: string | undefined
  readonly group?: string | undefined
  /** A part of the display name or the external id; case and accents are ignored. */
  readonly text?: string | undefined
  /** Only these subjects. */
  readonly subjectIds?: readonly string[] | undefined
  /** Times `>= createdFromUtc` and `< createdToUtc`. */
  readonly createdFromUtc?: string | undefined
  readonly createdToUtc?: string | undefined
  /** Leaves out subjects that have expired at this time. */
  readonly unexpiredAtUtc?: string | undefined
  /** Only subjects with this attribute. */
  readonly attribute?: AttributeFilter | undefined
  /** By default the order of enrollment. */
  readonly sort?: SubjectSort | undefined
  /** The position of the last subject of the previous page. */
  readonly after?: SubjectCursor | undefined
  /** The position of the last subject to read; undefined: the end of the gallery. */
  readonly upTo?: SubjectCursor | undefined
  readonly limit: number
  /** Ends a search with the reason of its abort: the client has left. */
  readonly signal?: AbortSignal | undefined
}

/** Finds subjects, by default in the order of their enrollment: new ones appear on the last page. */
export function findSubjects(tx: ReadTx, filter: SubjectFilter): Promise<readonly SubjectRow[]> {
  return tx.run(selectSubjects(tx, filter).selectAll())
}

/** Finds the positions of subjects in a range, in their order. */
export function findSubjectPositions(tx: ReadTx, range: SubjectFilter) {
  return tx.run(selectPositions(tx, range))
}

/** Returns the position after `rows` subjects of a list, matching or not; undefined at its end. */
export async function findStepEnd(
  tx: ReadTx,
  { galleryId, createdFromUtc, createdToUtc, sort, after }: SubjectFilter,
  rows: number,
): Promise<SubjectCursor | undefined> {
  const times = isInTimeOrder({ sort }) ? { createdFromUtc, createdToUtc } : {}
  const range = { galleryId, ...times, sort, after, limit: 1 }
  return (await tx.run(selectPositions(tx, range).offset(rows - 1)))[0]
}

function selectPositions(tx: ReadTx, filter: SubjectFilter) {
  const { by } = filter.sort ?? enrollmentOrder
  return selectSubjects(tx, filter).select([`${by} as value`, 'subjectId'])
}

/** Whether the period of creation is a part of the list. */
function isInTimeOrder({ sort = enrollmentOrder }: Pick<SubjectFilter, 'sort'>): boolean {
  return sort.by === 'createdAtUtc'
}

/** Selects a page of the subjects that match a filter. */
function selectSubjects(tx: ReadTx, filter: SubjectFilter) {
  const { sort: { by, isDescending } = enrollmentOrder, after, upTo, limit } = filter
  return selectPage(matchingSubjects(tx, filter), {
    columns: [by, 'subjectId'],
    ...(isInTimeOrder(filter) && { from: filter.createdFromUtc, to: filter.createdToUtc }),
    after: after && [after.value, after.subjectId],
    upTo: upTo && [upTo.value, upTo.subjectId],
    isDescending,
    limit,
  })
}

/** Builds the conditions of a filter. */
function matchingSubjects(tx: ReadTx, filter: SubjectFilter) {
  const { galleryId, externalId, group, text, attribute, subjectIds } = filter
  const { unexpiredAtUtc: nowUtc, createdFromUtc, createdToUtc } = filter
  const { searchTextContains, withoutIndex } = dialectOf(tx.build)
  let query = subjectIds
    ? selectByIds(tx, galleryId, subjectIds)
    : tx.build.selectFrom('subjects').where('galleryId', '=', galleryId)
  const period = { from: createdFromUtc, to: createdToUtc }
  if (!isInTimeOrder(filter)) query = whereBetween(query, withoutIndex('createdAtUtc'), period)
  if (nowUtc !== undefined) query = query.where(isUnexpired(nowUtc))
  if (externalId !== undefined) query = query.where('externalId', '=', externalId)
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
  if (attribute !== undefined)
    query = query.where((row) =>
      row.exists(
        row
          .selectFrom('subjectAttributes')
          .select('name')
          .whereRef('subjectAttributes.subjectId', '=', 'subjects.subjectId')
          .where('subjectAttributes.galleryId', '=', galleryId)
          .where('name', '=', attribute.name)
          .where('value', '=', attribute.value),
      ),
    )
  return text === undefined ? query : query.where(searchTextContains(foldText(text)))
}

export type GroupName = { readonly galleryId: string; readonly name: string }

/** Finds subjects of a group in the order of their ids, after a subject. */
export function findSubjectsInGroup(
  tx: ReadTx,
  { galleryId, name }: GroupName,
  { after, limit }: { readonly after: SubjectRow | undefined; readonly limit: number },
) {
  let query = tx.build
    .selectFrom('subjectGroups')
    .innerJoin('subjects', 'subjects.subjectId', 'subjectGroups.subjectId')
    .selectAll('subjects')
    .where('subjectGroups.galleryId', '=', galleryId)
    .where('name', '=', name)
  if (after) query = query.where('subjectGroups.subjectId', '>', after.subjectId)
  return tx.run(query.orderBy('subjectGroups.subjectId').limit(limit))
}

export type UnseenFilter = {
  readonly projectId: string
  readonly beforeUtc: string
  readonly limit: number
}

/** Finds expired subjects that a project has created. */
export function findExpiredSubjects(tx: ReadTx, { projectId, beforeUtc, limit }: UnseenFilter) {
  const query = tx.build.selectFrom('subjects').selectAll().where('projectId', '=', projectId)
  return tx.run(query.where('expiresAtUtc', '<=', beforeUtc).limit(limit))
}

/** Finds subjects of a project, without visitors, that were not matched since the given time. */
export function findUnseenSubjects(tx: ReadTx, { limit, ...filter }: UnseenFilter) {
  return tx.run(selectUnseen(tx, filter).selectAll().limit(limit))
}

/** Counts these subjects, at most `listCountMax`. */
export function countUnseenSubjects(tx: ReadTx, filter: Omit<UnseenFilter, 'limit'>) {
  return countListed(tx, selectUnseen(tx, filter).select('subjectId'))
}

function selectUnseen(tx: ReadTx, { projectId, beforeUtc }: Omit<UnseenFilter, 'limit'>) {
  return tx.build
    .selectFrom('subjects')
    .where('projectId', '=', projectId)
    .where('lastSeenAtUtc', '<', beforeUtc)
    .where('visitCount', 'is', null)
}

/** Finds subjects whose keys are encrypted under a gallery key. */
export function findSubjectsByKey(tx: ReadTx, keyId: string, limit: number) {
  return tx.run(tx.build.selectFrom('subjects').selectAll().where('keyId', '=', keyId).limit(limit))
}
