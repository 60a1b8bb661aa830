import { deletionHash } from './deletions.ts'
import type { DeletionRow } from '../gallery-schema.ts'
import type { ReadTx } from '../database.ts'

/** A deletion record with its hash in the chain of its account. */
export type ChainedDeletion = Omit<DeletionRow, 'seq'>

/** The last record of an account's chain that was read or written. */
export type DeletionChainHead = Pick<ChainedDeletion, 'deletionId' | 'rowHash'>

/** Returns whether the record follows `previous` in the account's chain; undefined: it is the first. */
export function isNextInChain(previous: DeletionChainHead | undefined, row: ChainedDeletion) {
  return deletionHash(previous?.rowHash, row).equals(row.rowHash)
}

/** Finds a record of an account. */
export async function findChainedDeletion(
  tx: ReadTx,
  { accountId, deletionId }: Pick<ChainedDeletion, 'accountId' | 'deletionId'>,
): Promise<ChainedDeletion | undefined> {
  const query = tx.build.selectFrom('deletions').selectAll().where('deletionId', '=', deletionId)
  const rows = await tx.run(query.where('accountId', '=', accountId))
  return rows.map(({ seq: _seq, ...record }) => record)[0]
}

/** Lists the accounts that have deletion records. */
export async function accountsWithDeletions(tx: ReadTx): Promise<readonly string[]> {
  const query = tx.build.selectFrom('deletions').select('accountId').distinct()
  const rows = await tx.run(query.orderBy('accountId'))
  return rows.map(({ accountId }) => accountId)
}

/**
 * Returns the records of an account that follow `after`, or its first records, the oldest first.
 *
 * @throws Error if the database has no record `after`.
 */
export async function deletionsAfter(
  tx: ReadTx,
  accountId: string,
  after: string | undefined,
  limit: number,
): Promise<readonly ChainedDeletion[]> {
  const seq = after === undefined ? 0 : await seqOf(tx, after)
  if (seq === undefined) throw new Error(`the database has no deletion record ${after}`)
  const query = tx.build
    .selectFrom('deletions')
    .selectAll()
    .where('accountId', '=', accountId)
    .where('seq', '>', seq)
    .orderBy('seq')
    .limit(limit)
  return (await tx.run(query)).map(({ seq: _seq, ...record }) => record)
}

async function seqOf(tx: ReadTx, deletionId: string): Promise<number | undefined> {
  const query = tx.build.selectFrom('deletions').select('seq').where('deletionId', '=', deletionId)
  return (await tx.run(query))[0]?.seq
}

/** Returns the records that are missing: a subject has one of its deletion, besides one of a merge. */
export async function missingDeletions<
  Row extends Pick<ChainedDeletion, 'deletionId' | 'subjectId' | 'mergedInto'>,
>(tx: ReadTx, rows: readonly Row[]): Promise<readonly Row[]> {
  if (rows.length === 0) return []
  const ids = rows.map(({ subjectId }) => subjectId)
  const query = tx.build
    .selectFrom('deletions')
    .select(['deletionId', 'subjectId', 'mergedInto'])
    .where('subjectId', 'in', ids)
  const recorded = Map.groupBy(await tx.run(query), ({ subjectId }) => subjectId)
  return rows.filter(({ deletionId, subjectId, mergedInto }) =>
    (recorded.get(subjectId) ?? []).every(
      (one) => one.deletionId !== deletionId && (mergedInto ?? one.mergedInto) !== null,
    ),
  )
}

/** Finds the merges of deleted subjects that can be undone, with the former ids of their targets. */
export async function findMergesOfDeleted(tx: ReadTx, subjectIds: readonly string[]) {
  const query = tx.build
    .selectFrom('deletions as deletion')
    .innerJoin('subjects as target', 'target.subjectId', 'deletion.mergedInto')
    .innerJoin('subjectMerges as merge', 'merge.subjectId', 'target.subjectId')
    .select(['deletion.subjectId', 'deletedAtUtc', 'target.formerIds', 'mergeId', 'mergedAtMs'])
  const rows = await tx.run(query.where('deletion.subjectId', 'in', subjectIds))
  return rows.filter(({ deletedAtUtc, mergedAtMs }) => mergedAtMs === Date.parse(deletedAtUtc))
}
