import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { Kysely, Migrator, type Migration } from 'kysely'
import { keyFinder, type KeyFinder } from './keys.ts'
import { tenancy } from './migrations/0001-tenancy.ts'
import { money } from './migrations/0002-money.ts'
import { calls } from './migrations/0003-calls.ts'
import type { Schema } from './schema.ts'
import { openSqlite, sqliteDialect } from './sqlite.ts'
import { sqliteTx } from './sqlite-tx.ts'
import type { Tx } from './tx.ts'
import { createWriter, type Write, type WriterOptions } from './writer.ts'

export type StoreOptions = Pick<WriterOptions<Tx>, 'atCommit'>

export type Database = Kysely<Schema>

/** An open database. */
export type Store = {
  /** Typed queries, one at a time or in a transaction of many turns. */
  readonly db: Database
  /** Jobs of one turn, in a group commit with their neighbours. */
  readonly write: Write<Tx>
  /** Looks a key up by its hash. Nothing is cached: a revocation holds for the very next call. */
  readonly findKey: KeyFinder
  readonly close: () => Promise<void>
}

const migrations: Readonly<Record<string, Migration>> = {
  '0001-tenancy': tenancy,
  '0002-money': money,
  '0003-calls': calls,
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
  return {
    db,
    write: createWriter({ db, connection, tx: sqliteTx(connection), atCommit }),
    findKey: keyFinder(reader),
    close: async () => {
      reader.close()
      await db.destroy()
    },
  }
}
