import type { ListCount } from '../../lib/limits/list-limits.ts'
import { chainHash, findBrokenChains } from '../hash-chain.ts'
import type { DeletionRow } from '../gallery-schema.ts'
import type { Database } from '../schema.ts'
import { countListed, selectPage, whereBetween, type ListOrder } from '../lists.ts'
import { type ReadTx, type Tx, dialectOf, sql } from '../database.ts'

/** The permanent record of a subject's deletion, with the field names of the contract. */
export type DeletionRecord = Pick<
  DeletionRow,
  'deletionId' | 'subjectId' | 'externalId' | 'embeddingCount' | 'deletedAtUtc'
> & { readonly tenantId: string; readonly groups: string[] }

/**
 * Adds a permanent deletion record. Triggers prevent changes and store the head of the hash chain,
 * which would reveal them.
 */
export async function addDeletion(
  tx: Tx,
  origin: Pick<DeletionRow, 'galleryId' | 'mergedInto' | 'formerIds'>,
  { tenantId: accountId, ...record }: DeletionRecord,
): Promise<void> {
  const groups = JSON.stringify(record.groups)
  await appendDeletion(tx, { ...record, ...origin, accountId, groups })
}

/** Appends a record, a new one or one from before a restore, to its account's chain. */
export async function appendDeletion(tx: Tx, row: Omit<DeletionRow, 'seq' | 'rowHash'>) {
  await tx.lock(`deletions:${row.accountId}`, 'exclusive')
  const rowHash = deletionHash(await lastHash(tx, row.accountId), row)
  await tx.run(tx.build.insertInto('deletions').values({ ...row, rowHash }))
}

async function lastHash(tx: ReadTx, accountId: string): Promise<Uint8Array | undefined> {
  const query = tx.build
    .selectFrom('deletions')
    .select('rowHash')
    .where('accountId', '=', accountId)
    .orderBy('seq', 'desc')
    .limit(1)
  return (await tx.run(query))[0]?.rowHash
}

/** Returns the hash of a record in the chain of its account, see `chainHash`. */
export function deletionHash(
  previousHash: Uint8Array | undefined,
  row: Omit<DeletionRow, 'seq' | 'rowHash'>,
): Buffer {
  return chainHash(previousHash, [
    row.deletionId,
    row.galleryId,
    row.accountId,
    row.subjectId,
    row.mergedInto,
    row.formerIds,
    row.groups,
    row.externalId,
    row.embeddingCount,
    row.deletedAtUtc,
  ])
}

/** Records of one gallery, or of all galleries of an account, deleted ones included. */
export type DeletionScope = { readonly galleryId: string } | { readonly accountId: string }

/** The position of a record in a list: its time and its number. */
type DeletionPosition = [deletedAtUtc: string, seq: number]

export type DeletionFilter = DeletionScope &
  ListOrder<Readonly<DeletionPosition>> & {
    readonly subjectId?: string | undefined
    readonly externalId?: string | undefined
    /** Times `>= fromUtc` and `< toUtc`. */
    readonly fromUtc?: string | undefined
    readonly toUtc?: string | undefined
  }

/** Finds deletion records, by default the newest first. */
export async function findDeletions(tx: ReadTx, filter: DeletionFilter) {
  const rows = await tx.run(pageOfDeletions(tx, filter).selectAll())
  return rows.map((row) => {
    const position: DeletionPosition = [row.deletedAtUtc, row.seq]
    return { position, galleryId: row.galleryId, record: deletionRecordOf(row) }
  })
}

/** Counts deletion records, at most `listCountMax`. */
export function countDeletions(tx: ReadTx, filter: DeletionConditions): Promise<ListCount> {
  return countListed(tx, pageOfDeletions(tx, filter).select('seq'))
}

type DeletionConditions = DeletionScope & Omit<DeletionFilter, 'galleryId' | 'after' | 'limit'>

function pageOfDeletions(tx: ReadTx, filter: DeletionConditions & Partial<DeletionFilter>) {
  const { subjectId, externalId, fromUtc: from, toUtc: to, isAscending = false } = filter
  const { withoutIndex } = dialectOf(tx.build)
  const scope = 'galleryId' in filter ? 'galleryId' : 'accountId'
  const id = 'galleryId' in filter ? filter.galleryId : filter.accountId
  // A person has few records, which a separate index finds. SQLite would prefer that of a period.
  const ofPerson = (subjectId ?? externalId) !== undefined
  let query = tx.build.selectFrom('deletions')
  query = query.where(subjectId === undefined ? sql.ref(scope) : withoutIndex(scope), '=', id)
  if (subjectId !== undefined) query = query.where('subjectId', '=', subjectId.toLowerCase())
  if (externalId !== undefined) query = query.where('externalId', '=', externalId)
  if (ofPerson) query = whereBetween(query, withoutIndex('deletedAtUtc'), { from, to })
  return selectPage(query, {
    ...filter,
    columns: ['deletedAtUtc', 'seq'],
    ...(!ofPerson && { from, to }),
    isDescending: !isAscending,
  })
}

function deletionRecordOf({ accountId: tenantId, ...row }: Omit<DeletionRow, 'seq'>) {
  const { deletionId, subjectId, externalId, embeddingCount, deletedAtUtc } = row
  // `addDeletion` writes an array of strings.
  const groups = JSON.parse(row.groups) as string[]
  return { deletionId, subjectId, tenantId, groups, externalId, embeddingCount, deletedAtUtc }
}

/** Checks the hash chain of every account, see `findBrokenChains`. */
export async function findBrokenDeletions(db: Database): Promise<string[]> {
  return findBrokenChains(db, {
    chain: 'deletions',
    rows: await db.selectFrom('deletions').selectAll().orderBy('seq').execute(),
    nameOf: ({ deletionId }) => `deletion ${deletionId}`,
    hashOf: deletionHash,
  })
}
