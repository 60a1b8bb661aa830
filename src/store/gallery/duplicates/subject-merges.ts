import type { SubjectMergeRow } from '../../gallery-schema.ts'
import { type ReadTx, type Tx, dialectOf, sql } from '../../database.ts'
import { isInBatch } from '../../delete-in-batches.ts'
import { isUnfrozen } from '../../tenancy/projects.ts'

export async function addMerge({ build, run }: Tx, merge: SubjectMergeRow): Promise<void> {
  await run(build.insertInto('subjectMerges').values(merge))
}

export type MergeFilter = {
  readonly galleryId: string
  readonly nowMs: number
  readonly mergeId?: string
}

/** Finds merges of a gallery that can be undone, the newest first. */
export function findMerges({ build, run }: ReadTx, { galleryId, nowMs, mergeId }: MergeFilter) {
  const query = build
    .selectFrom('subjectMerges')
    .selectAll()
    .where('galleryId', '=', galleryId)
    .where('expiresAtMs', '>', nowMs)
  const found = mergeId === undefined ? query : query.where('mergeId', '=', mergeId)
  return run(found.orderBy('mergedAtMs', 'desc').orderBy('mergeId').limit(mergesMax))
}

/** The newest merges that a list has. */
const mergesMax = 1_000

/** Finds the merges into a subject, the oldest first. */
export function findMergesOfSubject({ build, run }: ReadTx, subjectId: string) {
  const query = build.selectFrom('subjectMerges').selectAll().where('subjectId', '=', subjectId)
  return run(query.orderBy('mergedAtMs').orderBy('mergeId'))
}

export async function updateMerge(
  { build, run }: Tx,
  mergeId: string,
  change: Partial<Pick<SubjectMergeRow, 'ciphertext' | 'memberships'>>,
): Promise<void> {
  await run(build.updateTable('subjectMerges').set(change).where('mergeId', '=', mergeId))
}

/** The groups of a merged subject, and whether the merge added the remaining subject to them. */
export function membershipsOf({ memberships }: Pick<SubjectMergeRow, 'memberships'>) {
  return new Map(Object.entries(JSON.parse(memberships) as Record<string, boolean>))
}

/** The column `memberships` of these groups. */
export function packMemberships(groups: Iterable<readonly [name: string, isAdded: boolean]>) {
  return JSON.stringify(Object.fromEntries(groups))
}

/** Renames a group in what the merges of a gallery can be undone with. */
export async function renameGroupInMerges(
  tx: Tx,
  { galleryId, name, newName }: { galleryId: string; name: string; newName: string },
): Promise<void> {
  const query = tx.build
    .selectFrom('subjectMerges')
    .select(['mergeId', 'memberships'])
    .where('galleryId', '=', galleryId)
  const withText = query.where(dialectOf(tx.build).contains('memberships', JSON.stringify(name)))
  for (const merge of await tx.run(withText)) {
    const renamed = [...membershipsOf(merge)].map(
      ([group, isAdded]) => [group === name ? newName : group, isAdded] as const,
    )
    await updateMerge(tx, merge.mergeId, { memberships: packMemberships(renamed) })
  }
}

export async function removeMerge({ build, run }: Tx, mergeId: string): Promise<void> {
  await run(build.deleteFrom('subjectMerges').where('mergeId', '=', mergeId))
}

/** The tables with a limit for each owner, their keys, and when their rows were added. */
const limitedTables = {
  matchVerdicts: { id: 'verdictId', owner: 'matchedId', time: 'matchedAtMs' },
  nearMissCrops: { id: 'cropId', owner: 'projectId', time: 'storedAtMs' },
} as const

/** Ends the oldest rows of an owner beyond a limit, so that the next sweep deletes them. */
export async function endOldest(
  { build, run }: Tx,
  table: keyof typeof limitedTables,
  { ownerId, kept }: { readonly ownerId: string; readonly kept: number },
): Promise<void> {
  const { id, owner, time } = limitedTables[table]
  const key = build.dynamic.ref(id)
  const oldest = build
    .selectFrom(table)
    .select(key)
    .where(build.dynamic.ref(owner), '=', ownerId)
    // A literal, so that both engines use the partial index, which has no ended rows.
    .where(sql<boolean>`"expiresAtMs" > 0`)
    .orderBy(build.dynamic.ref(time), 'desc')
    .offset(kept)
    .limit(kept)
  await run(build.updateTable(table).set({ expiresAtMs: 0 }).where(key, 'in', oldest))
}

/**
 * Deletes merges that can no longer be undone, matches that can no longer be confirmed or denied, or
 * crops of near misses whose time has ended.
 * The keys of their subjects could decrypt them in an older copy of the database, so the next key
 * rotation replaces these keys.
 *
 * @returns the number of deleted rows, which are one batch.
 */
export async function deleteExpiredData(
  tx: Tx,
  table: 'subjectMerges' | 'matchVerdicts' | 'nearMissCrops',
  nowMs: number,
): Promise<number> {
  const { build, run } = tx
  // Merges have no project, and are too few to fill a batch that is not deleted.
  const isSwept = table === 'subjectMerges' ? sql`true` : isUnfrozen(table)
  const isExpired = sql<boolean>`"expiresAtMs" <= ${nowMs} and ${isSwept}`
  const deletion = build.deleteFrom(table).where(isInBatch(tx, table, isExpired))
  // A merge deletes the undecided matches, so that the subject of these still has the id.
  const owner = build.dynamic.ref(table === 'matchVerdicts' ? 'matchedId' : 'subjectId')
  const deleted = await run(deletion.returning(sql<string>`${owner}`.as('subjectId')))
  if (deleted.length === 0) return 0
  const ids = deleted.map(({ subjectId }) => subjectId)
  await run(build.updateTable('subjects').set({ needsNewKey: 1 }).where('subjectId', 'in', ids))
  return deleted.length
}
