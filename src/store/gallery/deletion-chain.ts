import { deletionHash } from './deletions.ts'
import type { DeletionRow } from '../schema.ts'
import type { ReadTx } from '../tx.ts'

/** A deletion record with its hash: its place in the chain of its account. */
export type ChainedDeletion = Omit<DeletionRow, 'seq'>

const zeroHash: Uint8Array = Buffer.alloc(32)

/** The last record of an account that was read or written somewhere. */
export type DeletionChainHead = Pick<ChainedDeletion, 'deletionId' | 'rowHash'>

/** Whether the record follows the one before it of its account; undefined: it is the first. */
export function isNextInChain(
  before: DeletionChainHead | undefined,
  row: ChainedDeletion,
): boolean {
  return deletionHash(before?.rowHash ?? zeroHash, row).equals(row.rowHash)
}

/** Accounts that have deletion records. */
export async function tenantsWithDeletions(reading: ReadTx): Promise<readonly string[]> {
  const query = reading.build.selectFrom('deletions').select('tenantId').distinct()
  const rows = await reading.run(query.orderBy('tenantId'))
  return rows.map(({ tenantId }) => tenantId)
}

/**
 * Records of an account, the oldest first, from after one of them or from the first.
 *
 * @throws Error when that one is not there.
 */
export async function deletionsAfter(
  reading: ReadTx,
  tenantId: string,
  after: string | undefined,
  limit: number,
): Promise<readonly ChainedDeletion[]> {
  const seq = after === undefined ? 0 : await seqOf(reading, after)
  if (seq === undefined) throw new Error(`the database has no deletion record ${after}`)
  const query = reading.build
    .selectFrom('deletions')
    .select([...deletionColumns])
    .where('tenantId', '=', tenantId)
    .where('seq', '>', seq)
    .orderBy('seq')
    .limit(limit)
  return reading.run(query)
}

async function seqOf(reading: ReadTx, deletionId: string): Promise<number | undefined> {
  const query = reading.build
    .selectFrom('deletions')
    .select('seq')
    .where('deletionId', '=', deletionId)
  return (await reading.run(query))[0]?.seq
}

/** Which of these subjects have no deletion record. */
export async function withoutDeletionRecord<Row extends Pick<ChainedDeletion, 'subjectId'>>(
  reading: ReadTx,
  rows: readonly Row[],
): Promise<readonly Row[]> {
  if (rows.length === 0) return []
  const ids = rows.map(({ subjectId }) => subjectId)
  const query = reading.build
    .selectFrom('deletions')
    .select('subjectId')
    .where('subjectId', 'in', ids)
  const known = new Set((await reading.run(query)).map(({ subjectId }) => subjectId))
  return rows.filter(({ subjectId }) => !known.has(subjectId))
}

const deletionColumns = [
  'deletionId',
  'galleryId',
  'tenantId',
  'subjectId',
  'groups',
  'externalId',
  'embeddingCount',
  'deletedAtUtc',
  'rowHash',
] as const
