import { type ReadTx, sql } from '../database.ts'
import { visitorsGalleryId } from '../gallery/visitors.ts'
import { budgetLedger, walletLedger } from './projects.ts'

/** A project with its budget, keys and gallery. */
export type ProjectSummary = Awaited<ReturnType<typeof findProjectSummaries>>[number]

/**
 * Finds the projects of an account that are not deleted, the oldest first, or only the project with the
 * given id.
 */
export async function findProjectSummaries(tx: ReadTx, accountId: string, projectId?: string) {
  const query = tx.build
    .selectFrom('projects')
    .innerJoin('ledgers', (on) =>
      on.on('ledgers.ledger', '=', sql<string>`'budget:' || projects."projectId"`),
    )
    .leftJoin('galleries', (on) => on.on('galleries.galleryId', '=', galleryIdSql))
    .selectAll('projects')
    .select([
      'balanceMicros',
      'reservedMicros',
      galleryIdSql.as('galleryId'),
      keyCountSql.as('keyCount'),
      sql<number>`coalesce("subjectCount", 0)`.as('subjectCount'),
      sql<number>`coalesce("templateCount", 0)`.as('templateCount'),
    ])
    .where('projects.accountId', '=', accountId)
    .where('projects.deletedAtUtc', 'is', null)
    .orderBy('projects.createdAtUtc')
    .orderBy('projects.name')
  const rows = await tx.run(projectId ? query.where('projects.projectId', '=', projectId) : query)
  const allocations = await findAllocations(tx, accountId)
  return rows.map((row) => ({
    ...row,
    /** Total allocated from the wallet, minus the amounts returned to it. */
    allocatedMicros: allocations.get(budgetLedger(row.projectId)) ?? 0n,
  }))
}

/** The gallery of the project, which may be shared. */
const galleryIdSql = sql<string>`case projects."galleryMode" when 'shared'
  then projects."accountId" else projects."projectId" end`

const keyCountSql = sql<number>`(select count(*) from keys
  where keys."projectId" = projects."projectId" and "isHidden" = 0)`

/** Finds the names and galleries of all projects of an account, also of deleted ones. */
export function findProjectNames(tx: ReadTx, accountId: string) {
  const query = tx.build
    .selectFrom('projects')
    .select(['projectId', 'name', galleryIdSql.as('galleryId')])
    .where('accountId', '=', accountId)
  return tx.run(query.orderBy('createdAtUtc').orderBy('name'))
}

/**
 * Sums the allocations to each budget. The wallet's chain contains all of them and no charges. SQLite
 * refuses a sum beyond 64 bits, so it adds two parts.
 */
async function findAllocations(tx: ReadTx, accountId: string) {
  const query = tx.build
    .selectFrom('ledgerTransfers')
    .select([
      'fromLedger',
      'toLedger',
      sql<bigint>`sum("amountMicros" / 1000000000)`.as('billionMicros'),
      sql<bigint>`sum("amountMicros" % 1000000000)`.as('restMicros'),
    ])
    .where('chain', '=', walletLedger(accountId))
    .where('kind', '=', 'allocate')
    .groupBy(['fromLedger', 'toLedger'])
  const sums = new Map<string, bigint>()
  for (const { fromLedger, toLedger, billionMicros, restMicros } of await tx.run(query)) {
    const sumMicros = billionMicros * 1_000_000_000n + restMicros
    sums.set(toLedger, (sums.get(toLedger) ?? 0n) + sumMicros)
    sums.set(fromLedger, (sums.get(fromLedger) ?? 0n) - sumMicros)
  }
  return sums
}

/**
 * Finds the galleries of an account, from their first enrollment to the deletion of their project. Those
 * of visitors are left out. The name of the project is null for the account's shared gallery.
 */
export function findGallerySummaries(tx: ReadTx, accountId: string) {
  const query = tx.build
    .selectFrom('galleries')
    .leftJoin('projects', 'projects.projectId', 'galleries.galleryId')
    .select(['galleryId', 'projects.name as projectName', 'subjectCount', 'templateCount'])
    .where('galleries.accountId', '=', accountId)
    .where('galleryId', 'not like', visitorsGalleryId('%'))
    .where('projects.deletedAtUtc', 'is', null)
  return tx.run(query.orderBy('galleryId'))
}
