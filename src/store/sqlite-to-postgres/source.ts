import path from 'node:path'
import {
  openSqlite,
  prepare,
  type SqliteParameters,
  type PreparedStatement,
} from '../sqlite/connection.ts'
import type { KeyValues, TableRow } from './table-rows.ts'
import type { MigratedTable } from './migrated-tables.ts'

/** A database of SQLite that nobody writes to for as long as it is open. */
export type MigrationSource = Disposable & {
  /** Rows behind a place, in the order of the table's key. */
  readonly readBatch: (table: MigratedTable, after: KeyValues | undefined) => readonly TableRow[]
  readonly countRows: (table: MigratedTable) => number
  /** The columns of money, each with its sum. */
  readonly sumAmounts: (table: MigratedTable) => ReadonlyMap<string, bigint>
  /** The largest number that a numbered table has given. */
  readonly lastIdentity: (table: MigratedTable) => number
  /** The first call of the log from a time on, ms; undefined: there is none. */
  readonly findNextCallMs: (fromMs: number) => number | undefined
}

/**
 * Opens a database of the current schema and keeps writers out, also those of the command line: what
 * is read of it is one state, however long that takes.
 */
export function openMigrationSource(dataDir: string): MigrationSource {
  const connection = openSqlite(path.join(dataDir, 'facegate.db'))
  connection.exec('BEGIN IMMEDIATE')
  const statements = new Map<string, PreparedStatement<unknown>>()
  /** The caller states the type of the rows: the SQL beside it is where that can be checked. */
  const ask = <Found>(sql: string, parameters: SqliteParameters = {}): Found[] => {
    const statement = statements.get(sql) ?? prepare<unknown>(connection, sql)
    statements.set(sql, statement)
    return statement.all(parameters) as Found[]
  }
  return {
    readBatch: (table, after) => ask<TableRow>(batchSql(table, after), keyParameters(after)),
    countRows: ({ name }) =>
      ask<{ count: number }>(`select count(*) as count from "${name}"`)[0]?.count ?? 0,
    sumAmounts: ({ name }) => {
      const columns = ask<{ name: string }>('select name from pragma_table_info(:name)', { name })
      const amounts = columns.filter((column) => column.name.endsWith('Micros'))
      return new Map(
        amounts.map((column) => {
          const [sum] = ask<{ sumMicros: bigint | null }>(
            `select sum("${column.name}") as sumMicros from "${name}"`,
          )
          return [column.name, sum?.sumMicros ?? 0n]
        }),
      )
    },
    lastIdentity: ({ name, identity: numbered }) => {
      if (!numbered) return 0
      const [found] = ask<{ last: number | null }>(
        `select max("${numbered.column}") as last from "${name}"`,
      )
      return found?.last ?? 0
    },
    findNextCallMs: (fromMs) => {
      const sql = 'select min(atMs) as atMs from calls where atMs >= :fromMs'
      return ask<{ atMs: number | null }>(sql, { fromMs })[0]?.atMs ?? undefined
    },
    [Symbol.dispose]: () => connection.close(),
  }
}

function batchSql({ name, key, batchRows }: MigratedTable, after: KeyValues | undefined): string {
  const columns = key.map((column) => `"${column}"`).join(', ')
  const values = key.map((_, at) => `:key${at}`).join(', ')
  const where = after ? ` where (${columns}) > (${values})` : ''
  return `select * from "${name}"${where} order by ${columns} limit ${batchRows}`
}

/** A place holds what SQLite itself gave as values of a key. */
function keyParameters(after: KeyValues | undefined): SqliteParameters {
  return Object.fromEntries(
    (after ?? []).map((value, at) => [`key${at}`, value]),
  ) as SqliteParameters
}
