import { createRequire } from 'node:module'
import type * as KyselyModule from 'kysely'
import type { RawBuilder, SqlBool } from 'kysely'
import type { Clock, SteadyClock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { AdmissionFacts, AdmissionInput, CallKey } from './gate/admission-facts.ts'
import type { AdmittedTerms } from './gate/admission-rule.ts'
import type { AttemptStatements, LedgerStatements, SettlementInput } from './gate/statements.ts'
import type { BucketRow, Database, NewCallRow } from './schema.ts'
import type { FindKey } from './tenancy/keys.ts'

/** The location of a database: a URL of a PostgreSQL server, or, if that is empty, a data folder. */
export type StoreLocation = {
  readonly dataDir: string
  readonly databaseUrl: string
  readonly connectionsMax?: number
}

export type StoreOptions = {
  /** The longest execution time of a statement on PostgreSQL, ms; tests raise it. */
  readonly statementTimeoutMs?: number
  /** The same for the statements of `read`, for commands that count all rows. */
  readonly readTimeoutMs?: number
  /** Receives warnings for the operator: a role with too many rights, a schema of a later version. */
  readonly log?: Pick<Log, 'warn'>
  /** Whether this process serves calls. Commands and threads only use the database for a while. */
  readonly isServer?: boolean
  /** Whether this server holds galleries in memory and reports which removals it has applied. */
  readonly hasGalleries?: boolean
  /** Whether a thread reads a whole gallery: its connection gets a cache for the indexes. */
  readonly readsGalleries?: boolean
  /** The version of this program, for the list of servers. */
  readonly version?: string
}

/** One transaction with both interfaces for writing. */
export type ExclusiveTransaction = { readonly db: Database; readonly tx: Tx }

/** An open database. */
export type Store = {
  /** Typed queries, each on its own or in a transaction that may await other work. */
  readonly db: Database
  /**
   * Runs short jobs that await only the database, each in a transaction. SQLite commits several of them
   * together. Resolves when the writes are on the disk.
   */
  readonly write: <T>(job: (tx: Tx) => Promise<T> | T) => Promise<T>
  /**
   * Runs a transaction that may await other work and use both kysely's queries and a job's
   * statements. On SQLite all calls wait for it, so it is for operators' changes, not for calls.
   *
   * @param accountId the changed account: others can change meanwhile on PostgreSQL. Without it, none.
   */
  readonly runExclusive: <T>(
    job: (change: ExclusiveTransaction) => Promise<T>,
    accountId?: string,
  ) => Promise<T>
  /** Reads one snapshot of what is committed, without waiting for writers. */
  readonly read: <T>(job: (tx: ReadTx) => Promise<T> | T) => Promise<T>
  /**
   * Moves the write-ahead log into the database file and empties it, so that deleted data is in
   * neither of them.
   *
   * @returns false if another process's read prevented it.
   */
  readonly checkpoint: () => Promise<boolean>
  /** Finds a key by its hash. Nothing is cached: a revocation applies to the very next call. */
  readonly findKey: FindKey
  /**
   * Finds a key that this process may remember. The identity may be outdated, so it only serves until
   * `admitCall`, which admits a call only if nothing has changed; after any other result it
   * must be refreshed.
   */
  readonly findRememberedKey: FindKey
  /**
   * Admits a new call that passes every check: on PostgreSQL with one statement, which saves round
   * trips, on SQLite together with others.
   *
   * @returns undefined if the call was not admitted or the result is unknown. The gate then decides in
   *   a transaction.
   */
  readonly admitCall: (input: AdmissionInput) => Promise<AdmittedTerms | undefined>
  /**
   * Settles a call that writes nothing else, together with others.
   *
   * @returns false if the caller no longer owns the attempt; nothing is written then.
   */
  readonly settleCall: Tx['settleCall']
  /**
   * Drops the months of the request log that are older than a time, where it is stored by months.
   *
   * @returns the number of dropped months.
   */
  readonly dropOldLogMonths?: (beforeMs: number) => Promise<number>
  readonly readInfo: () => Promise<DatabaseInfo>
  /** Whether other servers may use this database. */
  readonly isShared: boolean
  /**
   * Records that this server has applied the removals of faces up to these changes to its memory, and
   * deletes records that every running server has applied.
   */
  readonly confirmRemovals: (applied: readonly RemovalWatermark[]) => Promise<void>
  /**
   * Whether no other server had a recent heartbeat when this one started: calls still running then
   * have no owner.
   */
  readonly isFirstServer: boolean
  /** The steady clock of all servers on this database. */
  readonly steadyClock: SteadyClock
  /** The time of day of all servers on this database, where their machines' clocks may differ. */
  readonly timeOfDay?: Clock
  /** The counts of the connection pool, where there is one. */
  readonly connectionCounts?: () => ConnectionCounts
  readonly close: () => Promise<void>
}

/** A gallery with records of removed faces, and the last change that has one. */
export type RemovalWatermark = { readonly galleryId: string; readonly sequence: number }

/** A database as operators see it. */
export type DatabaseInfo = {
  readonly kind: 'sqlite' | 'postgres'
  /** A file, or the server and the database's name; never a password. */
  readonly place: string
  /** The version of the engine and of its vector extension, if there is one. */
  readonly version: string
  /** Its size on the disk. */
  readonly bytes: number
}

/** Connections in use, idle connections, and jobs that wait for a connection. */
export type ConnectionCounts = {
  readonly busy: number
  readonly idle: number
  readonly waiting: number
}

/** Queries of one snapshot of the database. */
export type ReadTx = {
  /** Builds queries for `run`; it does not execute them itself. */
  readonly build: Database
  readonly run: <Row>(query: KyselyModule.Compilable<Row>) => Promise<readonly Row[]>
}

/**
 * The statements of a job within its transaction. The few hot statements are prepared and have names
 * here; all others are built by kysely and go through `run`. A job awaits nothing but these
 * functions, because other jobs may wait for it.
 */
export type Tx = ReadTx & {
  /** Rolls back all writes of the work if it throws. */
  readonly savepoint: <T>(work: () => Promise<T>) => Promise<T>
  /**
   * Waits for a named lock and holds it until the transaction ends. An exclusive lock excludes all
   * others; shared locks exclude only exclusive ones. SQLite has one writer and needs no lock.
   */
  readonly lock: (name: string, mode: LockMode) => Promise<void>
  /** Reads and locks what the admission of a call depends on. @returns undefined if the key is unknown. */
  readonly findAdmissionFacts: (call: CallKey) => Promise<AdmissionFacts | undefined>
  readonly touchKey: (key: { readonly keyId: string; readonly atUtc: string }) => Promise<void>
  readonly updateBucket: (bucket: BucketRow) => Promise<void>
  readonly attempts: AttemptStatements
  readonly ledger: LedgerStatements
  /** Adds a row to the request log and to the counts of its hour. */
  readonly logCall: (row: NewCallRow) => Promise<void>
  /** Deletes the oldest rows of the log and records up to when. @returns the number of rows. */
  readonly sweepCalls: (range: {
    readonly beforeMs: number
    readonly limit: number
  }) => Promise<number>
  /**
   * Completes a call: its stored response, its charge and its log row.
   *
   * @returns false if the caller no longer owns the attempt; nothing is written then.
   */
  readonly settleCall: (settlement: SettlementInput) => Promise<boolean>
}

export type LockMode = 'exclusive' | 'shared'

/**
 * The query builder in its CommonJS build, which Node loads with 50 ms less processor time at each
 * start than the build for import statements. Only migrations import `kysely` directly.
 */
export const {
  CompiledQuery,
  DummyDriver,
  Kysely,
  Migrator,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  SqliteDialect,
  SqliteDriver,
  sql,
} = createRequire(import.meta.url)('kysely') as typeof KyselyModule

/** The type of a database, under the name of its class. */
export type Kysely<Schema> = KyselyModule.Kysely<Schema>

/** SQL fragments that differ between the engines, used by the portable queries. */
type SqlDialect = typeof sqlite

/** Returns the dialect of a database or of a query builder. */
export function dialectOf(db: Database): SqlDialect {
  return db.getExecutor().adapter instanceof PostgresAdapter ? postgres : sqlite
}

const sqlite = {
  /** Whether a text contains another; the case of letters without accents is ignored. */
  contains: (column: string, text: string) =>
    sql<SqlBool>`${sql.ref(column)} like ${likePattern(text)} escape '\\'`,
  /** Whether the search text of a subject contains a folded text (`gallery/search/search-text.ts`). */
  searchTextContains: (foldedText: string) => sql<SqlBool>`instr("searchText", ${foldedText}) > 0`,
  /** The texts of a column in all rows, one after another, with a separator that they do not contain. */
  joinTexts: (texts: RawBuilder<string>, separator: string) =>
    sql<string>`group_concat(${texts}, ${separator})`,
  /**
   * The bytes of a column in all rows, one after another. SQLite neither checks nor converts bytes that
   * it treats as text, and counts them instead of searching for a zero.
   */
  joinBytes: (column: string) =>
    sql<Uint8Array>`cast(group_concat(${sql.ref(column)}, '') as blob)`,
  /** A column without use of an index: another has the rows' order, or finds fewer rows. */
  withoutIndex: (column: string) => sql<string>`+${sql.ref(column)}`,
  /** The existing triggers that prevent changes of rows: `name`, `tableName`. */
  immutabilityTriggers: sql`
    select name, tbl_name as "tableName" from sqlite_schema
    where type = 'trigger' and sql like '%raise(abort%'`,
  /** Amounts of money that are not whole numbers: `place`, `type`. */
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
  /** Whether a join can read some rows for each row of another table. */
  hasLateralJoins: false,
  /** Whether several writers lock rows; SQLite has one writer. */
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
  hasLateralJoins: true,
  hasRowLocks: true,
}

function likePattern(text: string): string {
  return `%${text.replaceAll(/[\\%_]/gu, String.raw`\$&`)}%`
}
