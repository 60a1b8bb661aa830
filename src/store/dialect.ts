import { PostgresAdapter, sql, type RawBuilder, type SqlBool } from 'kysely'
import type { Database } from './database.ts'

/** What the two engines say differently, beside the statements of their own folders. */
export type SqlDialect = {
  /** Whether a text contains another, in whatever case its letters without accents are. */
  readonly contains: (column: string, text: string) => RawBuilder<SqlBool>
  /** A column that no index is to be looked up by: another one has the order of the rows. */
  readonly withoutIndex: (column: string) => RawBuilder<string>
  /** Triggers that are there and keep rows from changing: `name`, `tableName`. */
  readonly immutabilityTriggers: RawBuilder<unknown>
  /** Amounts of money that are no whole number: `place`, `type`. */
  readonly fractionalAmounts: RawBuilder<unknown>
  /** Whether there are tables for the search in the database. */
  readonly hasVectors: RawBuilder<SqlBool>
}

/** The dialect that a database speaks, or that queries are built in. */
export function dialectOf(db: Database): SqlDialect {
  return db.getExecutor().adapter instanceof PostgresAdapter ? postgres : sqlite
}

const sqlite: SqlDialect = {
  contains: (column, text) => sql`${sql.ref(column)} like ${likePattern(text)} escape '\\'`,
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
      union all select 'price ' || action, typeof(unitMicros) from prices)
    where type <> 'integer'`,
  hasVectors: sql`false`,
}

/** Columns have types that hold: what can be wrong there is a column's type alone. */
const postgres: SqlDialect = {
  contains: (column, text) => sql`${sql.ref(column)} ilike ${likePattern(text)}`,
  withoutIndex: (column) => sql`${sql.ref(column)}`,
  immutabilityTriggers: sql`
    select tgname as name, relname as "tableName"
    from pg_trigger join pg_class on pg_class.oid = tgrelid join pg_proc on pg_proc.oid = tgfoid
    where relnamespace = current_schema()::regnamespace and tgenabled <> 'D'
      and proname = 'refuseChange'`,
  fractionalAmounts: sql`
    select table_name || '.' || column_name as place, data_type as type
    from information_schema.columns join information_schema.tables using (table_schema, table_name)
    where table_schema = current_schema() and table_type = 'BASE TABLE'
      and column_name like '%Micros' and data_type <> 'bigint'`,
  hasVectors: sql`to_regclass('vectors') is not null`,
}

function likePattern(text: string): string {
  return `%${text.replaceAll(/[\\%_]/gu, String.raw`\$&`)}%`
}
