import { type ReadTx, type Tx, dialectOf } from '../database.ts'
import { selectExpiredIds } from './expired-subjects.ts'

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

export type GroupCount = { readonly name: string; readonly subjectCount: number }

export type GroupFilter = {
  readonly name?: string
  readonly names?: readonly string[]
  /** A part of the name. */
  readonly text?: string | undefined
  readonly isDescending?: boolean
  /** The last name of the previous page. */
  readonly after?: string | undefined
  readonly limit?: number
  /** Counts no subjects that have expired at this time. */
  readonly unexpiredAtUtc?: string | undefined
}

/** Lists the groups of a gallery that match all given conditions. A group has at least one subject. */
export function listGroups(tx: ReadTx, galleryId: string, filter: GroupFilter = {}) {
  const { name, names, text, after, limit, isDescending = false, unexpiredAtUtc: nowUtc } = filter
  let query = tx.build
    .selectFrom('subjectGroups')
    .select((row) => ['name', row.fn.countAll<number>().as('subjectCount')])
    .where('galleryId', '=', galleryId)
    .groupBy('name')
    .orderBy('name', isDescending ? 'desc' : 'asc')
  if (nowUtc !== undefined)
    query = query.where('subjectId', 'not in', selectExpiredIds(tx.build, { galleryId, nowUtc }))
  if (name !== undefined) query = query.where('name', '=', name)
  if (names !== undefined) query = query.where('name', 'in', names)
  if (after !== undefined) query = query.where('name', isDescending ? '<' : '>', after)
  if (text !== undefined) query = query.where(dialectOf(tx.build).contains('name', text))
  return tx.run(limit === undefined ? query : query.limit(limit))
}

type GroupMember = { readonly galleryId: string; readonly subjectId: string }

export async function addGroups(
  tx: Tx,
  { galleryId, subjectId }: GroupMember,
  names: readonly string[],
): Promise<void> {
  if (names.length === 0) return
  await tx.run(
    tx.build
      .insertInto('subjectGroups')
      .values(names.map((name) => ({ galleryId, subjectId, name })))
      .onConflict((row) => row.doNothing()),
  )
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

type GroupNameChange = {
  readonly galleryId: string
  readonly name: string
  /** A name that no subject of the gallery has. */
  readonly newName: string
  readonly sequence: number
  readonly nowUtc: string
}

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
