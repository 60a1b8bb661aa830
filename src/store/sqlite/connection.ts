import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { CompiledQuery, SqliteDialect, SqliteDriver } from '../database.ts'
import { createPrivateFile, requirePrivateDatabase } from './database-files.ts'
import type {
  DatabaseConnection,
  Dialect,
  SqliteDatabase,
  SqliteDialectConfig,
  SqliteStatement,
  TransactionSettings,
} from 'kysely'
import { closeSync, fdatasync, openSync } from 'node:fs'
import { promisify } from 'node:util'

/** The maximum number of cached prepared statements. Kysely repeats a few dozen texts. */
const statementsMax = 500

/** The longest wait for another process that writes, such as a command. */
export const busyTimeoutMs = 2000

/**
 * The page cache of a connection. The indexes by request id are changed at random places; a page that
 * does not fit is read again for each change.
 */
const cacheKib = 32 * 1024

/**
 * The pages of 4 KiB in the write-ahead log from which on a commit copies them to the database file.
 * Most commits change the same few pages, which are then copied once.
 */
const checkpointPages = 4000

/**
 * Opens a database file. `synchronous=FULL`, because NORMAL lost acknowledged commits in power
 * failures; `secure_delete`, because a deleted template must not stay in a free page. A new file can be
 * read only by its owner.
 *
 * @throws Error if other users may read the database.
 */
export function openSqlite(file: string): DatabaseSync {
  createPrivateFile(file)
  requirePrivateDatabase(file)
  const database = new DatabaseSync(file, {
    enableForeignKeyConstraints: true,
    timeout: busyTimeoutMs,
  })
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA secure_delete = ON;
    PRAGMA temp_store = MEMORY;
    PRAGMA cache_size = ${-cacheKib};
    PRAGMA wal_autocheckpoint = ${checkpointPages};
  `)
  return database
}

/** Runs reads in one snapshot. A connection can run only one snapshot at a time. */
export async function inSnapshot<T>(database: DatabaseSync, read: () => Promise<T> | T) {
  database.exec('BEGIN')
  try {
    return await read()
  } finally {
    database.exec('COMMIT')
  }
}

/**
 * Empties the write-ahead log. SQLite would wait for a reader by blocking the event loop, also for a
 * reader of this process, which ends only when the event loop goes on.
 *
 * @returns false if a reader prevented it.
 */
export function truncateWal(database: DatabaseSync): boolean {
  database.exec('PRAGMA busy_timeout = 0')
  try {
    return database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.['busy'] === 0
  } finally {
    database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`)
  }
}

export type SqliteParameters = Readonly<Record<string, SQLInputValue>>

/** A lock of rows in a portable statement. SQLite has one writer, and no syntax for it. */
const rowLock = /\s+for update(?: of \w+)?(?: skip locked)?/u

/**
 * Prepares a statement with `:named` parameters; one without a value is null. It runs synchronously. The
 * caller declares the type of the rows, next to the SQL that defines it. The
 * names become positions, because `node:sqlite` takes more than twice as long to bind values by name.
 */
export function prepare<Row>(database: DatabaseSync, sql: string) {
  const names: string[] = []
  const text = sql.replace(rowLock, '').replaceAll(/:([a-z]\w*)/giu, (_, name: string) => {
    names.push(name)
    return '?'
  })
  const statement = database.prepare(text)
  const rowOf = moneyReader(statement)
  const valuesOf = (parameters: SqliteParameters) => names.map((name) => parameters[name] ?? null)
  return {
    all: (parameters: SqliteParameters) =>
      statement.all(...valuesOf(parameters)).map((row) => rowOf(row) as Row),
    first: (parameters: SqliteParameters): Row | undefined => {
      const row = statement.get(...valuesOf(parameters))
      return row && (rowOf(row) as Row)
    },
    /** @returns the number of changed rows. */
    run: (parameters: SqliteParameters) => Number(statement.run(...valuesOf(parameters)).changes),
    /** Inserts a row. @returns its row id. */
    insert: (parameters: SqliteParameters) =>
      Number(statement.run(...valuesOf(parameters)).lastInsertRowid),
  }
}

/** Returns a function that prepares each text once, at its first use. */
export function prepareOnce(database: DatabaseSync) {
  return cacheByText((sql) => prepare(database, sql))
}

/** Returns kysely's SQLite dialect, which expects another driver, on top of `node:sqlite`. */
export function sqliteDialect(database: DatabaseSync): Dialect {
  const adapted: SqliteDatabase = {
    close: () => database.close(),
    prepare: createStatementCache(database),
  }
  const dialect = new SqliteDialect({ database: adapted })
  const createDriver = () => new TransactionDriver(database, { database: adapted })
  return Object.assign(dialect, { createDriver })
}

/**
 * Takes the write lock at the begin of a transaction, unless it only reads. A transaction that reads
 * first fails at its first write if another process has written in between (SQLITE_BUSY_SNAPSHOT).
 */
class TransactionDriver extends SqliteDriver {
  readonly #database: DatabaseSync

  constructor(database: DatabaseSync, config: SqliteDialectConfig) {
    super(config)
    this.#database = database
  }

  override async beginTransaction(
    connection: DatabaseConnection,
    { accessMode }: TransactionSettings = {},
  ): Promise<void> {
    const begin = accessMode === 'read only' ? 'begin' : 'begin immediate'
    await connection.executeQuery(CompiledQuery.raw(begin))
  }

  /** SQLite itself rolls back some failed transactions, for example on a full disk. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#database.isTransaction) await super.rollbackTransaction(connection)
  }
}

/** Returns a function that prepares each text once. */
export function createStatementCache(database: DatabaseSync): (sql: string) => SqliteStatement {
  return cacheByText((sql) => adaptStatement(database.prepare(sql)))
}

function cacheByText<Statement>(prepareText: (sql: string) => Statement) {
  const statements = new Map<string, Statement>()
  return (sql: string): Statement => {
    const cached = statements.get(sql)
    if (cached) return cached
    if (statements.size >= statementsMax) statements.clear()
    const statement = prepareText(sql)
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
 * Returns a function that converts the integers of a row: columns whose names end in `Micros` are
 * money and become bigint, all others become numbers. `node:sqlite` reads either all integers of a
 * statement as bigint or none. Numbers beyond 2^53 throw, so that no value is rounded.
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
  if (!Number.isSafeInteger(number)) throw new RangeError(`${value} exceeds 2^53`)
  return number
}

/** Kysely types parameters as `unknown`; SQLite rejects values that it cannot bind. */
function bindable(parameters: readonly unknown[]): SQLInputValue[] {
  return parameters as SQLInputValue[]
}

/** A transaction whose commit waits for the disk in another thread. */
export type DurableTransaction = ReturnType<typeof createDurableTransaction>

const synchronizeFile = promisify(fdatasync)

/**
 * Returns transactions with the durability of `synchronous=FULL`. With that setting, SQLite blocks the
 * event loop while the disk writes the log. Here SQLite only writes to the log, and a thread of the
 * file system functions waits for the disk. SQLite itself still waits before it copies the log to the
 * database file (`synchronous=NORMAL`), and in all other transactions of the connection.
 *
 * @param synchronize waits until the content of an open file is on the disk.
 */
export function createDurableTransaction(
  connection: DatabaseSync,
  file: string,
  synchronize: (descriptor: number) => Promise<void> = synchronizeFile,
) {
  let descriptor: number | undefined
  let synchronized: Promise<void> = Promise.resolve()
  let isSynchronized = true
  let failure: { readonly cause: unknown } | undefined
  const syncLog = async (): Promise<void> => {
    // The log exists from the first commit until the last connection is closed.
    descriptor ??= openSync(`${file}-wal`, 'r+')
    try {
      await synchronize(descriptor)
    } catch (cause) {
      failure = { cause }
      throw cause
    }
  }
  return {
    begin: (): void => {
      if (failure)
        throw new Error('the disk failed during an earlier commit; restart the service', failure)
      connection.exec('PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE')
    },
    /** Commits. A killed process has not lost the transaction. @throws Error if nothing was committed. */
    commit: (): void => {
      connection.exec('COMMIT; PRAGMA synchronous = FULL')
      isSynchronized = false
    },
    /**
     * Resolves when all that was committed is on the disk. Before that, nothing that depends on it may
     * leave the process.
     *
     * @throws Error if the disk failed. Then every later transaction fails, because it is unknown which
     *   of the earlier ones are on the disk.
     */
    synchronize: (): Promise<void> => {
      if (!isSynchronized) {
        isSynchronized = true
        synchronized = syncLog()
      }
      return synchronized
    },
    rollback: (): void => {
      if (connection.isTransaction) connection.exec('ROLLBACK')
      connection.exec('PRAGMA synchronous = FULL')
    },
    close: (): void => {
      if (descriptor !== undefined) closeSync(descriptor)
    },
  }
}
