import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { Client } from 'pg'
import { openDatabase } from '../../../src/start/open-database.ts'
import { readConfig, settings } from '../../../src/config.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { openStore, type Store } from '../../../src/store/database.ts'
import { createLog } from '../../../src/lib/log.ts'
import { postgresSkipReason, sharedPostgresServer, type TestDatabase } from './postgres-server.ts'

/** The engine that the services of this process's tests are started on. */
let isPostgres = false

/** What else they are started with there. */
let extraSettings: TestEnvironment = {}

/** Some tests look at what only one engine has. */
export function isOnPostgres(): boolean {
  return isPostgres
}

export function isDatabaseSearch(): boolean {
  return extraSettings['SEARCH'] === 'pgvector'
}

/** Its databases, by data folder: a service that comes back to a folder finds its database. */
const databasesByDataDir = new Map<string, Promise<TestDatabase>>()

type TestEnvironment = Readonly<Record<string, string>>

/**
 * Runs a file of tests, which knows nothing of engines, on PostgreSQL.
 *
 * @param load imports the file.
 */
export async function runOnPostgres(load: () => Promise<unknown>): Promise<void> {
  if (postgresSkipReason !== undefined)
    return void test('on PostgreSQL', { skip: postgresSkipReason }, () => {})
  isPostgres = true
  await load()
}

/** The same, with galleries searched in the database. */
export function runOnPgvector(load: () => Promise<unknown>): Promise<void> {
  extraSettings = { SEARCH: 'pgvector' }
  return runOnPostgres(load)
}

/** The setting that a service with this data folder finds its database by. */
export async function databaseSettings(
  dataDir: string,
  environment: TestEnvironment = {},
): Promise<TestEnvironment> {
  const given = environment['DATABASE_URL']
  if (given !== undefined || !isPostgres) return { DATABASE_URL: given ?? '' }
  const database = databasesByDataDir.get(dataDir) ?? createMigratedDatabase()
  databasesByDataDir.set(dataDir, database)
  return { ...extraSettings, DATABASE_URL: (await database).url }
}

export async function dropDatabase(dataDir: string): Promise<void> {
  const database = await databasesByDataDir.get(dataDir)
  databasesByDataDir.delete(dataDir)
  await database?.[Symbol.asyncDispose]()
}

/** The settings that a process of a test was given by its parent. */
export function inheritedSettings(): TestEnvironment {
  const given = Object.keys(settings).map((name) => [name, process.env[name]] as const)
  return Object.fromEntries(given.flatMap(([name, value]) => (value ? [[name, value]] : [])))
}

/** An empty database of the current schema, for one service or for several. */
export async function createMigratedDatabase(): Promise<TestDatabase> {
  const server = await sharedPostgresServer()
  templateDatabase ??= createTemplateDatabase(server.adminUrl)
  return server.createDatabase({ template: await templateDatabase })
}

let templateDatabase: Promise<string> | undefined

/** A copy takes a tenth of the time of a migration. Whoever needs it first makes it for all. */
async function createTemplateDatabase(adminUrl: string): Promise<string> {
  const name = 'facegate_migrated'
  const client = new Client({ connectionString: adminUrl })
  await client.connect()
  try {
    await client.query('select pg_advisory_lock(1)')
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name])
    if (rowCount === 0) {
      const server = await sharedPostgresServer()
      const database = await server.createDatabase()
      await migrate(database.url)
      await client.query(`alter database ${database.name} rename to ${name}`)
    }
    return name
  } finally {
    await client.end()
  }
}

async function migrate(url: string): Promise<void> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-template-'))
  const config = readConfig({ DATA_DIR: dataDir, DATABASE_URL: url })
  const books = await openDatabase(config, { clock: systemClock, log: createLog('warn') })
  await books[Symbol.asyncDispose]()
  await rm(dataDir, { recursive: true, force: true })
}

/** The database of a data folder, beside whatever else is at work on it. */
export async function openTestStore(dataDir: string): Promise<Store> {
  const { DATABASE_URL: url = '' } = await databaseSettings(dataDir)
  return url ? openStoreAt(url) : openStore(dataDir)
}

export function openStoreAt(url: string): Promise<Store> {
  return openStore({ dataDir: '', databaseUrl: url })
}
