import { mkdirSync } from 'node:fs'
import path from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { Kysely, Migrator } from 'kysely'
import { steadyClock } from '../../lib/clock.ts'
import type { Store, StoreOptions } from '../database.ts'
import { createKeyFinder } from '../tenancy/keys.ts'
import type { Schema } from '../schema.ts'
import { readSqliteInfo } from './read-info.ts'
import { truncateWal, inSnapshot, openSqlite, sqliteDialect } from './connection.ts'
import { createKeyRowFinder } from './find-key-row.ts'
import { createHourlyCountStatements } from './hourly-counts.ts'
import { migrations } from './migrations/all.ts'
import { requireNotMigrated } from './migration-marker.ts'
import { createPendingCounts } from './pending-counts.ts'
import { sqliteReading, sqliteTx } from './tx.ts'
import { createWriter } from './writer.ts'

/**
 * Opens the database of a data folder and brings it to the current schema.
 *
 * @throws Error if the folder cannot be written, its database was moved elsewhere, or a migration
 *   fails; nothing is half-migrated.
 */
export async function openSqliteStore(dataDir: string, options: StoreOptions): Promise<Store> {
  requireNotMigrated(dataDir)
  return openSqliteStoreForMigration(dataDir, options)
}

/** The same, also for a database that is being moved. */
export async function openSqliteStoreForMigration(
  dataDir: string,
  { onCommit: atCommit }: StoreOptions,
): Promise<Store> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const file = path.join(dataDir, 'facegate.db')
  const connection = openSqlite(file)
  const db = new Kysely<Schema>({ dialect: sqliteDialect(connection) })
  const migrator = new Migrator({
    db,
    provider: { getMigrations: () => Promise.resolve(migrations) },
  })
  if (hasLaterMigrations(connection))
    throw new Error(`a later version has migrated ${file}: start that one, or restore a copy`)
  const { error } = await migrator.migrateToLatest()
  if (error)
    throw new Error('the database could not be brought to the current schema', { cause: error })
  // A connection of its own sees what is committed, and nothing else, and waits for no writer.
  const reader = openSqlite(file)
  const reading = sqliteReading(reader)
  // And another: a key is to be seen as it is now, and not as it was when somebody's reading began.
  const finder = openSqlite(file)
  const hours = createHourlyCountStatements(connection)
  const pending = createPendingCounts(hours)
  const tx = sqliteTx(connection, hours, pending)
  return {
    db,
    write: createWriter({ db, connection, tx, pending, onCommit: atCommit }),
    runExclusive: (job) => db.transaction().execute((transaction) => job({ db: transaction, tx })),
    read: serializeReads((job) => inSnapshot(reader, () => job(reading))),
    isShared: false,
    isFirstServer: true,
    steadyClock,
    checkpoint: () => db.connection().execute(async () => truncateWal(connection)),
    findKey: createKeyFinder(createKeyRowFinder(finder)),
    readInfo: () => readSqliteInfo(file, reader),
    close: async () => {
      reader.close()
      finder.close()
      await db.destroy()
    },
  }
}

/** There is one server here, so old and new code need not get along: an older one stays out. */
function hasLaterMigrations(connection: DatabaseSync): boolean {
  const sql = `select 1 from sqlite_schema where name = 'kysely_migration'`
  if (!connection.prepare(sql).get()) return false
  const done = connection.prepare('select name from kysely_migration').all()
  return done.some(({ name }) => !(String(name) in migrations))
}

/** One after the other: a snapshot belongs to its connection. */
function serializeReads(read: Store['read']): Store['read'] {
  let last: Promise<unknown> = Promise.resolve()
  return (job) => {
    const turn = last.then(() => read(job))
    last = turn.catch(() => undefined)
    return turn
  }
}
