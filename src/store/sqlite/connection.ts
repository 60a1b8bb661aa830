import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { SqliteDialect, type SqliteDatabase, type SqliteStatement } from 'kysely'

/** Prepared statements kept for reuse; kysely asks for the same few dozen texts again and again. */
const statementsMax = 500

/** Longest wait for another process, such as the command line, that is just writing. */
const busyTimeoutMs = 2000

/**
 * SQLite as the embedded store needs it: `synchronous=FULL`, because in power cuts NORMAL lost
 * acknowledged commits; `secure_delete`, because a deleted template must not stay in a free page.
 */
export function openSqlite(file: string): DatabaseSync {
  const database = new DatabaseSync(file, {
    enableForeignKeyConstraints: true,
    timeout: busyTimeoutMs,
  })
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA secure_delete = ON;
    PRAGMA temp_store = MEMORY;
  `)
  return database
}

/** Runs reads that all see the same state. One at a time may be at work on a connection. */
export async function inSnapshot<T>(
  database: DatabaseSync,
  read: () => Promise<T> | T,
): Promise<T> {
  database.exec('BEGIN')
  try {
    return await read()
  } finally {
    database.exec('COMMIT')
  }
}

/** @returns false when a reader kept the log from being emptied. */
export function truncateWal(database: DatabaseSync): boolean {
  return database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.['busy'] === 0
}

export type SqliteParameters = Readonly<Record<string, SQLInputValue>>

/** A statement prepared once and run at once, its parameters `:named`. */
export type PreparedStatement<Row> = {
  readonly all: (parameters: SqliteParameters) => Row[]
  readonly first: (parameters: SqliteParameters) => Row | undefined
  /** @returns how many rows were changed. */
  readonly run: (parameters: SqliteParameters) => number
}

/** The caller states the type of the rows: the SQL beside it is where that can be checked. */
export function prepare<Row>(database: DatabaseSync, sql: string): PreparedStatement<Row> {
  const statement = database.prepare(sql)
  statement.setAllowUnknownNamedParameters(true) // A whole row may be given for a few of its columns.
  const rowOf = moneyReader(statement)
  return {
    all: (parameters) => statement.all(parameters).map((row) => rowOf(row) as Row),
    first: (parameters) => {
      const row = statement.get(parameters)
      return row && (rowOf(row) as Row)
    },
    run: (parameters) => Number(statement.run(parameters).changes),
  }
}

/** kysely over `node:sqlite`, which it has no dialect for: the interface of its SQLite one fits. */
export function sqliteDialect(database: DatabaseSync): SqliteDialect {
  const adapted: SqliteDatabase = {
    close: () => database.close(),
    prepare: createStatementCache(database),
  }
  return new SqliteDialect({ database: adapted })
}

/** Prepares each text once. */
export function createStatementCache(database: DatabaseSync): (sql: string) => SqliteStatement {
  const statements = new Map<string, SqliteStatement>()
  return (sql) => {
    const known = statements.get(sql)
    if (known) return known
    if (statements.size >= statementsMax) statements.clear()
    const statement = adaptStatement(database.prepare(sql))
    statements.set(sql, statement)
    return statement
  }
}

function adaptStatement(statement: StatementSync): SqliteStatement {
  const rowOf = moneyReader(statement)
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => statement.all(...bindable(parameters)).map(rowOf),
    run: (parameters) => statement.run(...bindable(parameters)),
    iterate: (parameters) => statement.iterate(...bindable(parameters)).map(rowOf),
  }
}

type SqliteRow = Record<string, unknown>

/**
 * Columns whose names end in `Micros` are money and come as bigint; other integers come as numbers.
 * SQLite reads either all integers of a statement as bigints or none, and throws for a number beyond
 * 2^53: nothing is ever rounded.
 */
function moneyReader(statement: StatementSync): (row: SqliteRow) => SqliteRow {
  const columns = statement.columns().map(({ name }) => name)
  const others = columns.filter((name) => !name.endsWith('Micros'))
  if (others.length === columns.length) return (row) => row
  statement.setReadBigInts(true)
  return (row) => {
    for (const name of others) {
      const value = row[name]
      if (typeof value === 'bigint') row[name] = safeNumber(value)
    }
    return row
  }
}

function safeNumber(value: bigint): number {
  const number = Number(value)
  if (!Number.isSafeInteger(number)) throw new RangeError(`${value} is beyond a whole number`)
  return number
}

/** kysely hands parameters over as `unknown`; SQLite itself refuses what it cannot bind. */
function bindable(parameters: readonly unknown[]): SQLInputValue[] {
  return parameters as SQLInputValue[]
}
