import { setImmediate as nextTurn } from 'node:timers/promises'
import type { InferResult, SqlBool } from 'kysely'
import { type ReadTx, type Tx, dialectOf, sql } from '../database.ts'
import { countRows, stepRows, type ListSource } from '../lists.ts'
import { isUnexpired, selectExpiredIds } from './expired-subjects.ts'

/** Returns the names of each subject's groups in alphabetical order. */
export async function findSubjectGroups(
  tx: ReadTx,
  subjectIds: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const groups = new Map<string, string[]>(subjectIds.map((subjectId) => [subjectId, []]))
  if (subjectIds.length === 0) return groups
  const query = tx.build
    .selectFrom('subjectGroups')
    .select(['subjectId', 'name'])
    .where('subjectId', 'in', subjectIds)
    .orderBy('name')
  for (const { subjectId, name } of await tx.run(query)) groups.get(subjectId)?.push(name)
  return groups
}

export type GroupFilter = {
  readonly name?: string
  /** A part of the name. */
  readonly text?: string | undefined
  readonly isDescending?: boolean
  /** The last name of the previous page. */
  readonly after?: string | undefined
  readonly limit?: number
  /** Counts no subjects that have expired at this time. */
  readonly unexpiredAtUtc?: string | undefined
  /** The most subjects that one statement counts. */
  readonly stepMax?: number
}

/** Whether a group, or without a name any group, has a subject. */
export async function hasGroup(tx: ReadTx, galleryId: string, filter: GroupFilter = {}) {
  return (await tx.run(groupMembers(tx, galleryId, filter).select('name').limit(1))).length > 0
}

/** Returns which of these names are groups. Reads one unexpired subject of each, in one statement. */
export async function findGroupNames(
  tx: ReadTx,
  galleryId: string,
  names: readonly string[],
  nowUtc: string,
): Promise<string[]> {
  const values = sql.join(names.map((name) => sql`(${name})`))
  const wanted = sql<{ readonly column1: string }>`(values ${values})`.as('wanted')
  const members = groupMembers(tx, galleryId, {})
    .select('name')
    .where(sql.ref('name'), '=', sql.ref('wanted.column1'))
  const ofName = members.where(sql<boolean>`(select ${isUnexpired(nowUtc)} from subjects
    where subjects."subjectId" = "subjectGroups"."subjectId")`)
  // Not a join, which could read all members of the gallery.
  const query = tx.build.selectFrom(wanted).select('column1').where(ofName.limit(1), 'is not', null)
  const found = await tx.run(query)
  return found.map(({ column1 }) => column1)
}

/** Counts the subjects of a group, in one statement. */
export function countGroup(tx: ReadTx, galleryId: string, filter: GroupFilter): Promise<number> {
  return countRows(tx, groupMembers(tx, galleryId, filter).select('subjectId'))
}

/**
 * Lists the groups of a gallery that match all given conditions. A group has at least one subject. The
 * subjects are counted in steps, so that other reads run in between.
 */
export async function listGroups(
  { read }: Pick<ListSource, 'read'>,
  galleryId: string,
  filter: GroupFilter = {},
) {
  const { limit = Infinity, stepMax = stepRows } = filter
  const counts = new Map<string, number>()
  // A page of small groups has few subjects.
  let rows = Math.min(stepMax, limit + 1)
  for (let last: GroupStep | undefined; ; await nextTurn()) {
    const step = { ...filter, stepMax: rows }
    const groups = await read((tx) => tx.run(countStep(tx, galleryId, step, last)))
    for (const { name, isListed, members } of groups)
      if (isListed) counts.set(name, (counts.get(name) ?? 0) + members)
    const isEnd = groups.reduce((sum, { members }) => sum + members, 0) < rows
    // The last group can have more subjects.
    if (isEnd || counts.size > limit) break
    last = groups.at(-1)
    rows = Math.min(stepMax, rows * 10)
  }
  const listed = [...counts].map(([name, subjectCount]) => ({ name, subjectCount }))
  return listed.slice(0, filter.limit)
}

type GroupStep = InferResult<ReturnType<typeof countStep>>[number]

/** Counts the subjects of a step by group. `isListed`: the name contains the text. */
function countStep(
  tx: ReadTx,
  galleryId: string,
  filter: GroupFilter,
  last?: { name: string; lastId: string },
) {
  const { name, text, after, isDescending = false, stepMax = stepRows } = filter
  const [direction, beyond] = isDescending ? (['desc', '<'] as const) : (['asc', '>'] as const)
  let rows = groupMembers(tx, galleryId, filter).select(['name', 'subjectId'])
  if (last && name !== undefined) rows = rows.where('subjectId', beyond, last.lastId)
  else if (last)
    rows = rows.where(
      sql<SqlBool>`(name, "subjectId") ${sql.raw(beyond)} (${last.name}, ${last.lastId})`,
    )
  else if (after !== undefined) rows = rows.where('name', beyond, after)
  const step = rows.orderBy('name', direction).orderBy('subjectId', direction).limit(stepMax)
  const { contains } = dialectOf(tx.build)
  const lastId = sql<string>`${sql.raw(isDescending ? 'min' : 'max')}("subjectId")`
  return tx.build
    .selectFrom(step.as('step'))
    .select([
      'name',
      (text === undefined ? sql<SqlBool>`true` : contains('name', text)).as('isListed'),
      sql<number>`count(*)`.as('members'),
      lastId.as('lastId'),
    ])
    .groupBy('name')
    .orderBy('name', direction)
}

/** Selects the subjects in groups, each with its group. */
function groupMembers(
  tx: ReadTx,
  galleryId: string,
  { name, unexpiredAtUtc: nowUtc }: GroupFilter,
) {
  let query = tx.build.selectFrom('subjectGroups').where('galleryId', '=', galleryId)
  if (nowUtc !== undefined)
    query = query.where('subjectId', 'not in', selectExpiredIds(tx.build, { galleryId, nowUtc }))
  return name === undefined ? query : query.where('name', '=', name)
}

type GroupMember = { readonly galleryId: string; readonly subjectId: string }

export async function addGroups(
  tx: Tx,
  { galleryId, subjectId }: GroupMember,
  names: readonly string[],
): Promise<void> {
  if (names.length === 0) return
  const members = names.map((name) => ({ galleryId, subjectId, name }))
  const addition = tx.build.insertInto('subjectGroups').values(members)
  await tx.run(addition.onConflict((row) => row.doNothing()))
}

export async function removeGroups(tx: Tx, { subjectId }: GroupMember, names: readonly string[]) {
  if (names.length === 0) return
  await tx.run(
    tx.build
      .deleteFrom('subjectGroups')
      .where('subjectId', '=', subjectId)
      .where('name', 'in', names),
  )
}

export type GroupRenaming = {
  readonly galleryId: string
  readonly name: string
  /** A name that no subject of the gallery has. */
  readonly newName: string
}

type GroupNameChange = GroupRenaming & { readonly sequence: number; readonly nowUtc: string }

/** Renames a group, and marks the faces of its subjects as changed: copies of the gallery hold groups. */
export async function renameGroupOfSubjects(
  { build, run }: Tx,
  { galleryId, name, newName, sequence, nowUtc }: GroupNameChange,
): Promise<void> {
  const members = build
    .selectFrom('subjectGroups')
    .select('subjectId')
    .where('galleryId', '=', galleryId)
    .where('name', '=', name)
  await run(build.updateTable('faces').set({ sequence }).where('subjectId', 'in', members))
  const touched = build.updateTable('subjects').set({ updatedAtUtc: nowUtc })
  await run(touched.where('subjectId', 'in', members))
  const renamed = build.updateTable('subjectGroups').set({ name: newName })
  await run(renamed.where('galleryId', '=', galleryId).where('name', '=', name))
}
