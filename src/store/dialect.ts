import type { RawBuilder, SqlBool } from 'kysely'
import { PostgresAdapter, sql } from './database.ts'
import type { Database } from './schema.ts'

/** SQL fragments that differ between the engines, used by the portable queries. */
export type SqlDialect = {
  /** Whether a text contains another; the case of letters without accents is ignored. */
  readonly contains: (column: string, text: string) => RawBuilder<SqlBool>
  /** Whether the search text of a subject contains a folded text (`gallery/search/search-text.ts`). */
  readonly searchTextContains: (foldedText: string) => RawBuilder<SqlBool>
  /** The texts of a column in all rows, one after another, with a separator that they do not contain. */
  readonly joinTexts: (texts: RawBuilder<string>, separator: string) => RawBuilder<string>
  /** The bytes of a column in all rows, one after another. */
  readonly joinBytes: (column: string) => RawBuilder<Uint8Array>
  /** A column for which the planner must not use an index: another index has the rows' order. */
  readonly withoutIndex: (column: string) => RawBuilder<string>
  /** The existing triggers that prevent changes of rows: `name`, `tableName`. */
  readonly immutabilityTriggers: RawBuilder<unknown>
  /** Amounts of money that are not whole numbers: `place`, `type`. */
  readonly fractionalAmounts: RawBuilder<unknown>
  /** Whether several writers lock rows; SQLite has one writer. */
  readonly hasRowLocks: boolean
}

/** Returns the dialect of a database or of a query builder. */
export function dialectOf(db: Database): SqlDialect {
  return db.getExecutor().adapter instanceof PostgresAdapter ? postgres : sqlite
}

const sqlite: SqlDialect = {
  contains: (column, text) => sql`${sql.ref(column)} like ${likePattern(text)} escape '\\'`,
  searchTextContains: (foldedText) => sql`instr("searchText", ${foldedText}) > 0`,
  joinTexts: (texts, separator) => sql`group_concat(${texts}, ${separator})`,
  // SQLite neither checks nor converts bytes that it treats as text, and counts them instead of
  // searching for a zero.
  joinBytes: (column) => sql`cast(group_concat(${sql.ref(column)}, '') as blob)`,
  withoutIndex: (column) => sql`+${sql.ref(column)}`,
  immutabilityTriggers: sql`
    select name, tbl_name as "tableName" from sqlite_schema
    where type = 'trigger' and sql like '%raise(abort%'`,
  fractionalAmounts: sql`
    select place, type from (
      select ledger as place, typeof(balanceMicros) as type from ledgers
      union all select ledger, typeof(reservedMicros) from ledgers
      union all select 'transfer ' || transferId, typeof(amountMicros) from ledgerTransfers
      union all select 'attempt ' || requestId, typeof(reservedMicros) from attempts
      union all select 'call ' || callId, typeof(costMicros) from calls
      union all select 'call ' || callId, typeof(meteredMicros) from calls
      union all select 'price ' || action, typeof(unitMicros) from prices)
    where type <> 'integer'`,
  hasRowLocks: false,
}

/** PostgreSQL enforces column types, so fractional amounts are possible only by a column's type. */
const postgres: SqlDialect = {
  contains: (column, text) => sql`${sql.ref(column)} ilike ${likePattern(text)}`,
  searchTextContains: (foldedText) => sql`strpos("searchText", ${foldedText}) > 0`,
  joinTexts: (texts, separator) => sql`string_agg(${texts}, ${separator})`,
  joinBytes: (column) => sql`string_agg(${sql.ref(column)}, ''::bytea)`,
  withoutIndex: (column) => sql`${sql.ref(column)}`,
  immutabilityTriggers: sql`
    select tgname as name, relname as "tableName"
    from pg_trigger join pg_class on pg_class.oid = tgrelid join pg_proc on pg_proc.oid = tgfoid
    where relnamespace = current_schema()::regnamespace and tgenabled <> 'D'
      and proname = 'rejectChange'`,
  fractionalAmounts: sql`
    select table_name || '.' || column_name as place, data_type as type
    from information_schema.columns join information_schema.tables using (table_schema, table_name)
    where table_schema = current_schema() and table_type = 'BASE TABLE'
      and column_name like '%Micros' and data_type <> 'bigint'`,
  hasRowLocks: true,
}

function likePattern(text: string): string {
  return `%${text.replaceAll(/[\\%_]/gu, String.raw`\$&`)}%`
}
