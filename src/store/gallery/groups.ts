import { dialectOf } from '../dialect.ts'
import type { ReadTx, Tx } from '../tx.ts'

/** Names of the groups of each subject, in their order. */
export async function findSubjectGroups(
  reading: ReadTx,
  subjectIds: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const groups = new Map<string, string[]>(subjectIds.map((subjectId) => [subjectId, []]))
  if (subjectIds.length === 0) return groups
  const query = reading.build
    .selectFrom('subjectGroups')
    .select(['subjectId', 'name'])
    .where('subjectId', 'in', subjectIds)
    .orderBy('name')
  for (const { subjectId, name } of await reading.run(query)) groups.get(subjectId)?.push(name)
  return groups
}

export type GroupCount = { readonly name: string; readonly subjectCount: number }

/** Which groups: of this name, with this text in it, after this name, so many of them. */
export type GroupFilter = {
  readonly name?: string
  readonly text?: string | undefined
  readonly after?: string | undefined
  readonly limit?: number
}

/** A group is there as long as a subject belongs to it. Without a part, all of them. */
export function listGroups(
  reading: ReadTx,
  galleryId: string,
  { name, text, after, limit }: GroupFilter = {},
): Promise<readonly GroupCount[]> {
  let query = reading.build
    .selectFrom('subjectGroups')
    .select((row) => ['name', row.fn.countAll<number>().as('subjectCount')])
    .where('galleryId', '=', galleryId)
    .groupBy('name')
    .orderBy('name')
  if (name !== undefined) query = query.where('name', '=', name)
  if (after !== undefined) query = query.where('name', '>', after)
  if (text !== undefined) query = query.where(dialectOf(reading.build).contains('name', text))
  return reading.run(limit === undefined ? query : query.limit(limit))
}

type GroupMember = { readonly galleryId: string; readonly subjectId: string }

export async function addGroups(tx: Tx, of: GroupMember, names: readonly string[]): Promise<void> {
  if (names.length === 0) return
  const { galleryId, subjectId } = of
  await tx.run(
    tx.build
      .insertInto('subjectGroups')
      .values(names.map((name) => ({ galleryId, subjectId, name })))
      .onConflict((row) => row.doNothing()),
  )
}

export async function removeGroups(
  tx: Tx,
  { subjectId }: GroupMember,
  names: readonly string[],
): Promise<void> {
  if (names.length === 0) return
  await tx.run(
    tx.build
      .deleteFrom('subjectGroups')
      .where('subjectId', '=', subjectId)
      .where('name', 'in', names),
  )
}
