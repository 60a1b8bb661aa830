import type { Kysely } from 'kysely'
import type { KeyFinder } from './keys.ts'
import type { Schema } from './schema.ts'
import { openSqliteStore } from './sqlite/open.ts'
import type { Write, WriterOptions } from './sqlite/writer.ts'
import type { Reading, Tx } from './tx.ts'

export type StoreOptions = Pick<WriterOptions<Tx>, 'atCommit'>

export type Database = Kysely<Schema>

/** One transaction, by two ways to write. */
export type Change = { readonly db: Database; readonly tx: Tx }

/** An open database. */
export type Store = {
  /** Typed queries, one at a time or in a transaction of many turns. */
  readonly db: Database
  /** Jobs that wait for the database alone; on SQLite in a group commit with their neighbours. */
  readonly write: Write<Tx>
  /**
   * A transaction of many turns with the statements of a job beside kysely's queries. All calls wait
   * for it: it is for what people do, not for calls.
   */
  readonly change: <T>(job: (change: Change) => Promise<T>) => Promise<T>
  /** Asks what is committed, all of it as at one moment, and waits for no writer. */
  readonly read: <T>(job: (reading: Reading) => Promise<T> | T) => Promise<T>
  /**
   * Empties the write-ahead log into the database file, so that what was deleted is in neither.
   *
   * @returns whether it is empty: another process that is just reading can stand in the way.
   */
  readonly checkpoint: () => Promise<boolean>
  /** Looks a key up by its hash. Nothing is cached: a revocation holds for the very next call. */
  readonly findKey: KeyFinder
  readonly close: () => Promise<void>
}

/** Opens the database of a data folder and brings it to the current schema. */
export function openStore(dataDir: string, options: StoreOptions = {}): Promise<Store> {
  return openSqliteStore(dataDir, options)
}
