import path from 'node:path'
import { openSqlite, prepareOnce, type SqliteParameters } from '../sqlite/connection.ts'
import { databaseFile } from '../sqlite/database-files.ts'
import type { KeyValues, TableRow } from './fill-target.ts'
import type { Table } from './tables.ts'

/** An SQLite database that is locked against writes while it is open. */
export type MigrationSource = Disposable & ReturnType<typeof openMigrationSource>

/**
 * Opens a database of the current schema and locks it against writes, including those of commands.
 * All reads therefore return the same state.
 */
export function openMigrationSource(dataDir: string) {
  const connection = openSqlite(path.join(dataDir, databaseFile))
  connection.exec('BEGIN IMMEDIATE')
  const statement = prepareOnce(connection)
  /** The caller declares the type of the rows, next to the SQL that defines it. */
  const queryRows = <Row>(sql: string, parameters: SqliteParameters = {}): Row[] =>
    statement(sql).all(parameters) as Row[]
  return {
    /** Returns the rows after a key, in the order of the table's key. */
    readBatch: (table: Table, after: KeyValues | undefined): readonly TableRow[] =>
      queryRows<TableRow>(batchSql(table, after), keyParameters(after)),
    countRows: ({ name }: Table): number =>
      queryRows<{ count: number }>(`select count(*) as count from "${name}"`)[0]?.count ?? 0,
    /** Returns the sum of each column of money. SQLite refuses a sum beyond 64 bits, so it adds two parts. */
    sumAmounts: ({ name }: Table): ReadonlyMap<string, bigint> => {
      const columns = queryRows<{ name: string }>('select name from pragma_table_info(:name)', {
        name,
      })
      const amounts = columns.filter((column) => column.name.endsWith('Micros'))
      return new Map(
        amounts.map((column) => {
          const [sum] = queryRows<{ billions: number | null; rest: number | null }>(
            `select sum("${column.name}" / 1000000000) as billions,
              sum("${column.name}" % 1000000000) as rest from "${name}"`,
          )
          return [column.name, BigInt(sum?.billions ?? 0) * 1_000_000_000n + BigInt(sum?.rest ?? 0)]
        }),
      )
    },
    /** Returns the largest of the table's generated numbers; 0 without one. */
    lastNumber: ({ name, sequence, key: [column] }: Table): number => {
      if (sequence === undefined) return 0
      const [row] = queryRows<{ last: number | null }>(
        `select max("${column}") as last from "${name}"`,
      )
      return row?.last ?? 0
    },
    /** Returns the time of the first logged call since `fromMs`; undefined: there is none. */
    findNextCallMs: (fromMs: number): number | undefined => {
      const sql = 'select min(atMs) as atMs from calls where atMs >= :fromMs'
      return queryRows<{ atMs: number | null }>(sql, { fromMs })[0]?.atMs ?? undefined
    },
    [Symbol.dispose]: () => connection.close(),
  }
}

function batchSql({ name, key, batchRows }: Table, after: KeyValues | undefined): string {
  const columns = key.map((column) => `"${column}"`).join(', ')
  const values = key.map((_, index) => `:key${index}`).join(', ')
  const where = after ? ` where (${columns}) > (${values})` : ''
  return `select * from "${name}"${where} order by ${columns} limit ${batchRows}`
}

/** The values come from SQLite, so SQLite can bind them. */
function keyParameters(after: KeyValues | undefined): SqliteParameters {
  return Object.fromEntries(
    (after ?? []).map((value, index) => [`key${index}`, value]),
  ) as SqliteParameters
}
