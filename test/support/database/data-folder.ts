import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { systemClock } from '../../../src/lib/clock.ts'
import { newId } from '../../../src/lib/ids.ts'
import { databaseFile } from '../../../src/store/sqlite/database-files.ts'
import { isOnPostgres, type TestEnvironment } from './engine.ts'

/**
 * The options of a service's database. No statement of a test reaches the limit, also on a machine
 * that stalls for seconds.
 */
export const databaseDefaults = { clock: systemClock, statementTimeoutMs: 60_000 }

/**
 * Creates the data folder of a new service. On SQLite it contains an empty database of the current
 * schema: a copy takes much less processor time than the migrations, which other tests run.
 */
export async function createDataFolder(environment: TestEnvironment = {}): Promise<string> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-data-'))
  await addEmptyDatabase(dataDir, environment)
  return dataDir
}

/** Adds an empty SQLite database of the current schema to a data folder, unless PostgreSQL is used. */
export async function addEmptyDatabase(
  dataDir: string,
  environment: TestEnvironment = {},
): Promise<void> {
  if (isOnPostgres() || environment['DATABASE_URL']) return
  migrated ??= readMigratedSqlite()
  await writeFile(path.join(dataDir, databaseFile), await migrated, { mode: 0o600 })
}

/** The content of a database file of the current schema, for all copies of this process. */
let migrated: Promise<Uint8Array> | undefined

/** Returns the file that an earlier process of this test run has written, or writes it. */
async function readMigratedSqlite(): Promise<Uint8Array> {
  // Without `npm test` there are no other processes.
  const folder = process.env['TEST_TEMPLATE_FOLDER']
  if (folder === undefined) return createMigratedSqlite()
  const file = path.join(folder, databaseFile)
  const written = await readFile(file).catch(() => undefined)
  if (written) return written
  const content = await createMigratedSqlite()
  const unfinished = `${file}.${newId()}`
  await writeFile(unfinished, content)
  await rename(unfinished, file)
  return content
}

async function createMigratedSqlite(): Promise<Uint8Array> {
  const { openStore } = await import('../../../src/store/open-store.ts')
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-template-'))
  await (await openStore(dataDir)).close()
  const file = new DatabaseSync(path.join(dataDir, databaseFile))
  file.exec('PRAGMA journal_mode = DELETE')
  const content = file.serialize()
  file.close()
  await rm(dataDir, { recursive: true })
  return content
}
