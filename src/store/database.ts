import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { Kysely, Migrator, type Migration } from 'kysely'
import { tenancy } from './migrations/0001-tenancy.ts'
import type { Schema } from './schema.ts'
import { openSqlite, sqliteDialect } from './sqlite.ts'

export type Database = Kysely<Schema>

const migrations: Readonly<Record<string, Migration>> = { '0001-tenancy': tenancy }

/**
 * Opens the database of a data folder and brings it to the current schema.
 *
 * @throws Error if the folder cannot be written or a migration fails; nothing is half-migrated.
 */
export async function openDatabase(dataDir: string): Promise<Database> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const database = new Kysely<Schema>({
    dialect: sqliteDialect(openSqlite(path.join(dataDir, 'facegate.db'))),
  })
  const migrator = new Migrator({
    db: database,
    provider: { getMigrations: () => Promise.resolve(migrations) },
  })
  const { error } = await migrator.migrateToLatest()
  if (error)
    throw new Error('the database could not be brought to the current schema', { cause: error })
  return database
}
