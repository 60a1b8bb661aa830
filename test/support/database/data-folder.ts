import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openStore } from '../../../src/store/open-store.ts'
import { databaseFile } from '../../../src/store/sqlite/connection.ts'
import { isOnPostgres, type TestEnvironment } from './engine.ts'

/**
 * Creates the data folder of a new service. On SQLite it contains an empty database of the current
 * schema: a copy takes much less processor time than the migrations, which other tests run.
 */
export async function createDataFolder(environment: TestEnvironment = {}): Promise<string> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-data-'))
  if (isOnPostgres() || environment['DATABASE_URL']) return dataDir
  migrated ??= createMigratedSqlite()
  await writeFile(path.join(dataDir, databaseFile), await migrated, { mode: 0o600 })
  return dataDir
}

/** The content of a database file of the current schema, for all copies of this process. */
let migrated: Promise<Uint8Array> | undefined

async function createMigratedSqlite(): Promise<Uint8Array> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-template-'))
  await (await openStore(dataDir)).close()
  const file = new DatabaseSync(path.join(dataDir, databaseFile))
  file.exec('PRAGMA journal_mode = DELETE')
  const content = file.serialize()
  file.close()
  await rm(dataDir, { recursive: true })
  return content
}
