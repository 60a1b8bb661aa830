import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { Kysely, Migrator, type Migration } from 'kysely'
import { keyFinder, type KeyFinder } from './keys.ts'
import { tenancy } from './migrations/0001-tenancy.ts'
import { money } from './migrations/0002-money.ts'
import { calls } from './migrations/0003-calls.ts'
import { galleries } from './migrations/0004-galleries.ts'
import { threshold } from './migrations/0005-threshold.ts'
import { consoleUsers } from './migrations/0008-console.ts'
import { hours } from './migrations/0009-hours.ts'
import { hourStatements } from './hours.ts'
import { createPendingCounts } from './pending-counts.ts'
import type { Schema } from './schema.ts'
import { emptyWal, inSnapshot, openSqlite, sqliteDialect } from './sqlite.ts'
import { sqliteReading, sqliteTx } from './sqlite-tx.ts'
import type { Reading, Tx } from './tx.ts'
import { createWriter, type Write, type WriterOptions } from './writer.ts'

export type StoreOptions = Pick<WriterOptions<Tx>, 'atCommit'>

export type Database = Kysely<Schema>

/** One transaction, by two ways to write. */
export type Change = { readonly db: Database; readonly tx: Tx }

/** An open database. */
export type Store = {
  /** Typed queries, one at a time or in a transaction of many turns. */
  readonly db: Database
  /** Jobs of one turn, in a group commit with their neighbours. */
  readonly write: Write<Tx>
  /**
   * A transaction of many turns with the statements of a job beside kysely's queries. All calls wait
   * for it: it is for what people do, not for calls.
   */
  readonly change: <T>(job: (change: Change) => Promise<T>) => Promise<T>
  /** Asks what is committed, all of it as at one moment, and waits for no writer. */
  readonly read: <T>(job: (reading: Reading) => T) => Promise<T>
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

const migrations: Readonly<Record<string, Migration>> = {
  '0001-tenancy': tenancy,
  '0002-money': money,
  '0003-calls': calls,
  '0004-galleries': galleries,
  '0005-threshold': threshold,
  '0008-console': consoleUsers,
  '0009-hours': hours,
}

/**
 * Opens the database of a data folder and brings it to the current schema.
 *
 * @throws Error if the folder cannot be written or a migration fails; nothing is half-migrated.
 */
export async function openStore(dataDir: string, { atCommit }: StoreOptions = {}): Promise<Store> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const file = path.join(dataDir, 'facegate.db')
  const connection = openSqlite(file)
  const db = new Kysely<Schema>({ dialect: sqliteDialect(connection) })
  const migrator = new Migrator({
    db,
    provider: { getMigrations: () => Promise.resolve(migrations) },
  })
  const { error } = await migrator.migrateToLatest()
  if (error)
    throw new Error('the database could not be brought to the current schema', { cause: error })
  // A connection of its own sees what is committed, and nothing else, and waits for no writer.
  const reader = openSqlite(file)
  const reading = sqliteReading(reader)
  const hours = hourStatements(connection)
  const pending = createPendingCounts(hours)
  const tx = sqliteTx(connection, hours, pending)
  return {
    db,
    write: createWriter({ db, connection, tx, pending, atCommit }),
    change: (job) => db.transaction().execute((transaction) => job({ db: transaction, tx })),
    read: async (job) => inSnapshot(reader, () => job(reading)),
    checkpoint: () => db.connection().execute(async () => emptyWal(connection)),
    findKey: keyFinder(reader),
    close: async () => {
      reader.close()
      await db.destroy()
    },
  }
}
