import { sql, type Selectable } from 'kysely'
import { budgetLedger, walletLedger } from './projects.ts'
import type { ProjectRow } from '../schema.ts'
import type { ReadTx } from '../tx.ts'

/** A project and what it has. */
export type ProjectSummary = Selectable<ProjectRow> & {
  readonly balanceMicros: bigint
  readonly reservedMicros: bigint
  /** What the wallet has given it, less what went back. */
  readonly allocatedMicros: bigint
  readonly keyCount: number
  /** The gallery that it sees. */
  readonly galleryId: string
  readonly subjectCount: number
  readonly templateCount: number
}

/** The projects of an account, the oldest first; or the one that is asked for. */
export async function findProjectSummaries(
  reading: ReadTx,
  accountId: string,
  projectId?: string,
): Promise<readonly ProjectSummary[]> {
  const all = reading.build
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
    .orderBy('projects.createdAtUtc')
    .orderBy('projects.name')
  const rows = await reading.run(projectId ? all.where('projects.projectId', '=', projectId) : all)
  const allocated = await findAllocations(reading, accountId)
  return rows.map((row) => ({
    ...row,
    allocatedMicros: allocated.get(budgetLedger(row.projectId)) ?? 0n,
  }))
}

const galleryIdSql = sql<string>`case projects."galleryMode" when 'shared'
  then projects."accountId" else projects."projectId" end`

const keyCountSql = sql<number>`(select count(*) from keys
  where keys."projectId" = projects."projectId" and "isHidden" = 0)`

/** What each budget was given in all: the wallet's own chain, which holds no charges. */
async function findAllocations(
  reading: ReadTx,
  accountId: string,
): Promise<ReadonlyMap<string, bigint>> {
  const query = reading.build
    .selectFrom('ledgerTransfers')
    .select(['fromLedger', 'toLedger', sql<bigint>`sum("amountMicros")`.as('sumMicros')])
    .where('chain', '=', walletLedger(accountId))
    .where('kind', '=', 'allocate')
    .groupBy(['fromLedger', 'toLedger'])
  const given = new Map<string, bigint>()
  for (const { fromLedger, toLedger, sumMicros } of await reading.run(query)) {
    given.set(toLedger, (given.get(toLedger) ?? 0n) + sumMicros)
    given.set(fromLedger, (given.get(fromLedger) ?? 0n) - sumMicros)
  }
  return given
}

export type GallerySummary = {
  readonly galleryId: string
  /** The project whose own it is; null: the one that the account's projects share. */
  readonly projectName: string | null
  readonly subjectCount: number
  readonly templateCount: number
}

/** The galleries of an account that ever held somebody. */
export function findGallerySummaries(
  reading: ReadTx,
  accountId: string,
): Promise<readonly GallerySummary[]> {
  const query = reading.build
    .selectFrom('galleries')
    .leftJoin('projects', 'projects.projectId', 'galleries.galleryId')
    .select(['galleryId', 'projects.name as projectName', 'subjectCount', 'templateCount'])
    .where('galleries.accountId', '=', accountId)
  return reading.run(query.orderBy('galleryId'))
}
