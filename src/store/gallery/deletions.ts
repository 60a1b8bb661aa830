import { createHash } from 'node:crypto'
import type { Database } from '../database.ts'
import type { DeletionRow } from '../schema.ts'
import type { ReadTx, Tx } from '../tx.ts'

/** What stays of a subject, in the words of the contract. */
export type DeletionRecord = Pick<
  DeletionRow,
  'deletionId' | 'subjectId' | 'tenantId' | 'externalId' | 'embeddingCount' | 'deletedAtUtc'
> & { readonly groups: string[] }

/** Writes a deletion record, for ever: the table refuses changes, and a hash chain would show them. */
export async function addDeletion(
  tx: Tx,
  galleryId: string,
  record: DeletionRecord,
): Promise<void> {
  await appendDeletion(tx, { ...record, galleryId, groups: JSON.stringify(record.groups) })
}

/** Puts a record, of now or of before a restore, at the end of its account's chain. */
export async function appendDeletion(
  tx: Tx,
  row: Omit<DeletionRow, 'seq' | 'rowHash'>,
): Promise<void> {
  await tx.lock(`deletions:${row.tenantId}`, 'alone')
  const rowHash = deletionHash(await lastHash(tx, row.tenantId), row)
  await tx.run(tx.build.insertInto('deletions').values({ ...row, rowHash }))
}

/** The end of an account's chain; 32 zero bytes before its first record. */
async function lastHash(reading: ReadTx, tenantId: string): Promise<Uint8Array> {
  const query = reading.build
    .selectFrom('deletions')
    .select('rowHash')
    .where('tenantId', '=', tenantId)
    .orderBy('seq', 'desc')
    .limit(1)
  return (await reading.run(query))[0]?.rowHash ?? Buffer.alloc(32)
}

/** SHA-256 over the hash before it of the account (32 zero bytes at first) and the row as JSON. */
export function deletionHash(
  before: Uint8Array,
  row: Omit<DeletionRow, 'seq' | 'rowHash'>,
): Buffer {
  const fields = [
    row.deletionId,
    row.galleryId,
    row.tenantId,
    row.subjectId,
    row.groups,
    row.externalId,
    row.embeddingCount,
    row.deletedAtUtc,
  ]
  return createHash('sha256').update(before).update(JSON.stringify(fields)).digest()
}

export type DeletionFilter = {
  readonly galleryId: string
  readonly subjectId?: string | undefined
  readonly externalId?: string | undefined
  /** From this moment on, and before that one. */
  readonly fromUtc?: string | undefined
  readonly toUtc?: string | undefined
  /** Number of the record that the page before ended with. */
  readonly before?: number | undefined
  readonly limit: number
}

/** Deletion records of a gallery, the newest first. */
export async function findDeletions(
  reading: ReadTx,
  filter: DeletionFilter,
): Promise<readonly { readonly seq: number; readonly record: DeletionRecord }[]> {
  const { galleryId, subjectId, externalId, fromUtc, toUtc, before } = filter
  let query = reading.build.selectFrom('deletions').selectAll().where('galleryId', '=', galleryId)
  if (subjectId !== undefined) query = query.where('subjectId', '=', subjectId.toLowerCase())
  if (externalId !== undefined) query = query.where('externalId', '=', externalId)
  if (fromUtc !== undefined) query = query.where('deletedAtUtc', '>=', fromUtc)
  if (toUtc !== undefined) query = query.where('deletedAtUtc', '<', toUtc)
  if (before !== undefined) query = query.where('seq', '<', before)
  const rows = await reading.run(query.orderBy('seq', 'desc').limit(filter.limit))
  return rows.map((row) => ({ seq: row.seq, record: deletionRecordOf(row) }))
}

function deletionRecordOf(row: Omit<DeletionRow, 'seq'>): DeletionRecord {
  const { deletionId, subjectId, tenantId, externalId, embeddingCount, deletedAtUtc } = row
  // Written by addDeletion, which takes a list of texts.
  const groups = JSON.parse(row.groups) as string[]
  return { deletionId, subjectId, tenantId, groups, externalId, embeddingCount, deletedAtUtc }
}

/** Walks every account's chain of records. @returns one line for each that does not fit. */
export async function findBrokenDeletions(db: Database): Promise<string[]> {
  const broken: string[] = []
  const hashes = new Map<string, Uint8Array>()
  for (const row of await db.selectFrom('deletions').selectAll().orderBy('seq').execute()) {
    const hash = deletionHash(hashes.get(row.tenantId) ?? Buffer.alloc(32), row)
    if (!hash.equals(row.rowHash)) broken.push(`deletion ${row.deletionId} does not fit its hash`)
    hashes.set(row.tenantId, row.rowHash)
  }
  return broken
}
