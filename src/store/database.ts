import type { Kysely } from 'kysely'
import type { Config } from '../config.ts'
import type { Clock, SteadyClock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { AdmitStatementRow, AdmitStatementInput } from './gate/statements.ts'
import type { DatabaseInfo } from './database-info.ts'
import type { FindKey } from './tenancy/keys.ts'
import { openPostgresStore } from './postgres/open-postgres-store.ts'
import type { ConnectionCounts } from './postgres/connection/pool.ts'
import type { Schema } from './schema.ts'
import { openSqliteStore } from './sqlite/open-sqlite-store.ts'
import type { RunWrite, WriterOptions } from './sqlite/writer.ts'
import { traceStore } from './trace-store.ts'
import type { ReadTx, Tx } from './tx.ts'

export type StoreOptions = Pick<WriterOptions<Tx>, 'onCommit'> & {
  /** Told of what an operator should know: a role with too much power, a later version's schema. */
  readonly log?: Pick<Log, 'warn'>
  /** Whether this process serves calls; a command or a thread only visits. */
  readonly isServer?: boolean
  /** Of this program, for the list of servers. */
  readonly version?: string
}

/** Where the data is: in a folder, or with a URL in a database on a server. */
export type StoreLocation = {
  readonly dataDir: string
  readonly databaseUrl: string
  readonly connectionsMax?: number
}

/** Where a configuration says that it is. */
export function storeLocationOf(
  config: Pick<Config, 'DATA_DIR' | 'DATABASE_URL' | 'DATABASE_CONNECTIONS_MAX'>,
): StoreLocation {
  return {
    dataDir: config.DATA_DIR,
    databaseUrl: config.DATABASE_URL,
    connectionsMax: config.DATABASE_CONNECTIONS_MAX,
  }
}

export type Database = Kysely<Schema>

/** One transaction, by two ways to write. */
export type ExclusiveTransaction = { readonly db: Database; readonly tx: Tx }

/** An open database. */
export type Store = {
  /** Typed queries, one at a time or in a transaction of many turns. */
  readonly db: Database
  /** Jobs that wait for the database alone; on SQLite in a group commit with their neighbours. */
  readonly write: RunWrite<Tx>
  /**
   * A transaction of many turns with the statements of a job beside kysely's queries. All calls wait
   * for it: it is for what people do, not for calls.
   */
  readonly runExclusive: <T>(job: (change: ExclusiveTransaction) => Promise<T>) => Promise<T>
  /** Asks what is committed, all of it as at one moment, and waits for no writer. */
  readonly read: <T>(job: (reading: ReadTx) => Promise<T> | T) => Promise<T>
  /**
   * Empties the write-ahead log into the database file, so that what was deleted is in neither.
   *
   * @returns whether it is empty: another process that is just reading can stand in the way.
   */
  readonly checkpoint: () => Promise<boolean>
  /** Looks a key up by its hash. Nothing is cached: a revocation holds for the very next call. */
  readonly findKey: FindKey
  /**
   * Claims a call by one statement if nothing stands against it, where that spares round trips.
   * @returns undefined when something does, or nobody knows: then the gate asks one by one.
   */
  readonly admitInOneStatement?: (
    asked: AdmitStatementInput,
  ) => Promise<AdmitStatementRow | undefined>
  readonly readInfo: () => Promise<DatabaseInfo>
  /** Whether other servers may be at work on it. */
  readonly isShared: boolean
  /** Whether no other server was at work when this one began: what was begun before is nobody's. */
  readonly isFirstServer: boolean
  /** The clock that all of them go by. */
  readonly steadyClock: SteadyClock
  /** The time of day that all of them go by, where their machines' may differ. */
  readonly timeOfDay?: Clock
  /** Its connections, where it has several. */
  readonly connectionCounts?: () => ConnectionCounts
  readonly close: () => Promise<void>
}

/**
 * Opens a database and brings it to the current schema.
 *
 * @param place a folder alone is SQLite's.
 */
export async function openStore(
  place: StoreLocation | string,
  options: StoreOptions = {},
): Promise<Store> {
  return traceStore(await openEngine(place, options))
}

function openEngine(place: StoreLocation | string, options: StoreOptions): Promise<Store> {
  if (typeof place === 'string') return openSqliteStore(place, options)
  const { dataDir, databaseUrl, connectionsMax } = place
  if (databaseUrl === '') return openSqliteStore(dataDir, options)
  return openPostgresStore(databaseUrl, {
    ...options,
    ...(connectionsMax !== undefined && { connectionsMax }),
  })
}
