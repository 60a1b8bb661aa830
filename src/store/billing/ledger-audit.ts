import { readFileSync } from 'node:fs'
import type { Selectable } from 'kysely'
import { dialectOf, sql } from '../database.ts'
import type { LedgerHead } from '../gate/statements.ts'
import { readPages } from '../lists.ts'
import type { Database, TransferRow } from '../schema.ts'

const violationsMax = 5

/**
 * Old log rows may be swept. A charge must have its log row if its window began this much later than
 * the time up to which the log was swept.
 */
const sweepMarginMs = 600_000

/** The queries of `ledger-audit.sql`, by their names. */
const queries = new Map(
  readFileSync(new URL('ledger-audit.sql', import.meta.url), 'utf8')
    .split(/^-- (?=\w+$)/mu)
    .map((section) => [section.split('\n', 1)[0], section.slice(section.indexOf('\n'))]),
)

/**
 * Returns one line of text for each row that breaks a rule, at most `violationsMax` of them.
 *
 * @param name a query of `ledger-audit.sql`.
 */
export async function findAuditViolations(db: Database, name: string, nowMs: number) {
  const query = queries.get(name)
  if (query === undefined) throw new Error(`there is no audit query ${name}`)
  const { immutabilityTriggers, fractionalAmounts } = dialectOf(db)
  const values = { nowMs, violationsMax, sweepMarginMs, immutabilityTriggers, fractionalAmounts }
  const parts = query.split(/:(\w+)/u).map((part, index) =>
    // Every second part is a name.
    index % 2 === 0 ? sql.raw(part) : sql`${values[part as keyof typeof values]}`,
  )
  const { rows } = await sql<{ readonly line: string }>`${sql.join(parts, sql``)}`.execute(db)
  return rows.map(({ line }) => line)
}

/** Returns the heads of all hash chains. */
export function chainHeads(db: Database): Promise<(LedgerHead & { readonly ledger: string })[]> {
  return db.selectFrom('ledgers').select(['ledger', 'headSeq', 'headHash']).execute()
}

const pageRows = 5000

/** Yields the transfers of one chain in their order. It reads them page by page. */
export function readChain(db: Database, chain: string): AsyncGenerator<Selectable<TransferRow>> {
  const transfers = db
    .selectFrom('ledgerTransfers')
    .selectAll()
    .where('chain', '=', chain)
    .orderBy('seq')
    .limit(pageRows)
  return readPages((last) => transfers.where('seq', '>', last?.seq ?? -1).execute())
}
