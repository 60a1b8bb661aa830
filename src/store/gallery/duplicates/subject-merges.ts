import type { SubjectMergeRow } from '../../gallery-schema.ts'
import type { ReadTx, Tx } from '../../database.ts'

export async function addMerge({ build, run }: Tx, merge: SubjectMergeRow): Promise<void> {
  await run(build.insertInto('subjectMerges').values(merge))
}

export type MergeFilter = {
  readonly galleryId: string
  readonly nowMs: number
  readonly mergeId?: string
}

/** Finds merges of a gallery that can be undone, the newest first. */
export function findMerges(
  { build, run }: ReadTx,
  { galleryId, nowMs, mergeId }: MergeFilter,
): Promise<readonly SubjectMergeRow[]> {
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

/** Finds the merges into a subject. */
export function findMergesOfSubject(
  { build, run }: ReadTx,
  subjectId: string,
): Promise<readonly SubjectMergeRow[]> {
  return run(build.selectFrom('subjectMerges').selectAll().where('subjectId', '=', subjectId))
}

export async function replaceMergeCiphertext(
  { build, run }: Tx,
  { mergeId, ciphertext }: Pick<SubjectMergeRow, 'mergeId' | 'ciphertext'>,
): Promise<void> {
  await run(build.updateTable('subjectMerges').set({ ciphertext }).where('mergeId', '=', mergeId))
}

export async function removeMerge({ build, run }: Tx, mergeId: string): Promise<void> {
  await run(build.deleteFrom('subjectMerges').where('mergeId', '=', mergeId))
}

/**
 * Deletes merges that can no longer be undone. The key of their subject could decrypt them in an older
 * copy of the database, so the next key rotation replaces it.
 *
 * @returns the number of deleted merges, at most `limit`.
 */
export async function deleteExpiredMerges(
  { build, run }: Tx,
  nowMs: number,
  limit: number,
): Promise<number> {
  const expired = build
    .selectFrom('subjectMerges')
    .select(['mergeId', 'subjectId'])
    .where('expiresAtMs', '<=', nowMs)
    .orderBy('mergeId')
    .limit(limit)
  const found = await run(expired)
  if (found.length === 0) return 0
  const ids = (name: 'mergeId' | 'subjectId') => found.map((row) => row[name])
  const subjects = build.updateTable('subjects').set({ needsNewKey: 1 })
  await run(subjects.where('subjectId', 'in', ids('subjectId')))
  await run(build.deleteFrom('subjectMerges').where('mergeId', 'in', ids('mergeId')))
  return found.length
}
