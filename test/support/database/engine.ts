import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { Client } from 'pg'
import { readConfig, settings } from '../../../src/config.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import type { Store } from '../../../src/store/database.ts'
import { runTogether } from '../run-together.ts'
import { postgresSkipReason, sharedPostgresServer, type TestDatabase } from './postgres-server.ts'

// The modules of the service are loaded where they are used: tests of a started service need none.

/** Whether the services of this process's tests use PostgreSQL; otherwise they use SQLite. */
let isPostgres = false

/** Further settings of services on PostgreSQL. */
let extraSettings: TestEnvironment = {}

/** Returns whether the tests run on PostgreSQL, for tests that depend on the engine. */
export function isOnPostgres(): boolean {
  return isPostgres
}

export function isDatabaseSearch(): boolean {
  return extraSettings['SEARCH'] === 'pgvector'
}

/** The databases by data folder: a service that restarts in a folder uses the same database. */
const databasesByDataDir = new Map<string, Promise<TestDatabase>>()

export type TestEnvironment = Readonly<Record<string, string>>

/**
 * Runs test files on PostgreSQL, as `runTogether` does. A file that runs on pgvector is not repeated
 * with search in memory, which is the same on both databases.
 *
 * @param names their paths below `test`, without `.test.ts`.
 */
export function runOnPostgres(names: readonly string[]): void {
  if (postgresSkipReason !== undefined)
    return void test('on PostgreSQL', { skip: postgresSkipReason }, () => {})
  isPostgres = true
  runTogether(names.map((name) => `test/${name}.test.ts`))
}

/** Runs test files on PostgreSQL with search in the database. */
export function runOnPgvector(names: readonly string[]): void {
  extraSettings = { SEARCH: 'pgvector' }
  runOnPostgres(names)
}

/** Returns the settings with which a service in this data folder uses its database. */
export async function databaseSettings(
  dataDir: string,
  environment: TestEnvironment = {},
): Promise<TestEnvironment> {
  const url = environment['DATABASE_URL']
  if (url !== undefined || !isPostgres) return { DATABASE_URL: url ?? '' }
  const database = databasesByDataDir.get(dataDir) ?? createMigratedDatabase()
  databasesByDataDir.set(dataDir, database)
  return { ...extraSettings, DATABASE_URL: (await database).url }
}

/**
 * Returns these settings for a service of a test, and fewer connections than in production. Each
 * connection costs PostgreSQL the processor time of several calls, and such a service serves few.
 */
export async function serviceDatabaseSettings(
  dataDir: string,
  environment?: TestEnvironment,
): Promise<TestEnvironment> {
  return { DATABASE_CONNECTIONS_MAX: '6', ...(await databaseSettings(dataDir, environment)) }
}

export async function dropDatabase(dataDir: string): Promise<void> {
  const database = await databasesByDataDir.get(dataDir)
  databasesByDataDir.delete(dataDir)
  await database?.[Symbol.asyncDispose]()
}

/** Returns the settings that a test's child process received from its parent. */
export function inheritedSettings(): TestEnvironment {
  const entries = Object.keys(settings).map((name) => [name, process.env[name]] as const)
  return Object.fromEntries(entries.flatMap(([name, value]) => (value ? [[name, value]] : [])))
}

/** Creates an empty database of the current schema. */
export async function createMigratedDatabase(): Promise<TestDatabase> {
  const server = await sharedPostgresServer()
  templateDatabase ??= createTemplateDatabase(server.adminUrl)
  return server.createDatabase({ template: await templateDatabase })
}

let templateDatabase: Promise<string> | undefined

/** Copying a template takes a tenth of a migration's time. The first caller creates it for all. */
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
  const { openDatabase } = await import('../../../src/start/open-database.ts')
  const { createLog } = await import('../../../src/lib/log.ts')
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-template-'))
  const config = readConfig({ DATA_DIR: dataDir, DATABASE_URL: url })
  const database = await openDatabase(config, { clock: systemClock, log: createLog('warn') })
  await database[Symbol.asyncDispose]()
  await rm(dataDir, { recursive: true, force: true })
}

/** Opens the database of a data folder for queries of a test, beside the services that use it. */
export async function openTestStore(dataDir: string): Promise<Store> {
  const { DATABASE_URL: url = '' } = await databaseSettings(dataDir)
  if (url) return openStoreAt(url)
  const { openStore } = await import('../../../src/store/open-store.ts')
  return openStore(dataDir)
}

export async function openStoreAt(url: string): Promise<Store> {
  const { allAccountsStore } = await import('./all-accounts-store.ts')
  const { openStore } = await import('../../../src/store/open-store.ts')
  return allAccountsStore(await openStore({ dataDir: '', databaseUrl: url }))
}
