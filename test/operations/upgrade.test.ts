import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { type Store, sql } from '../../src/store/database.ts'
import { openStore } from '../../src/store/open-store.ts'
import { createMigratedDatabase } from '../support/database/engine.ts'
import { imageParams, startGallery } from '../support/gallery/test-gallery.ts'
import { postgresSkipReason, sharedPostgresServer } from '../support/database/postgres-server.ts'
import { queryAllAccounts } from '../support/migration/run-migration.ts'

/** Changes the database like a later version: a migration that this version does not have. */
async function applyLaterMigration(store: Store): Promise<void> {
  const nowUtc = new Date().toISOString()
  await sql`insert into kysely_migration (name, timestamp) values ('999-later', ${nowUtc})`.execute(
    store.db,
  )
  await sql`create table "laterTable" (id text primary key)`.execute(store.db)
  await sql`alter table subjects add column "laterColumn" text`.execute(store.db)
  await sql`alter table attempts add column "laterColumn" integer not null default 7`.execute(
    store.db,
  )
}

test(
  'On PostgreSQL an older server continues after a later version’s migration, and can restart',
  { skip: postgresSkipReason ?? false },
  async () => {
    await using database = await createMigratedDatabase()
    const environment = { DATABASE_URL: database.url }
    const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-upgrade-'))
    let key: string
    {
      await using older = await startGallery({ environment, dataDir })
      key = older.key
      await older.value('svc.enroll', imageParams('Ann'))
      await applyLaterMigration(older.database.store)
      await older.value('svc.enroll', imageParams('Ben'))
      assert.equal((await older.value('svc.identify', imageParams('Ann'))).matched, true)
    }
    await using restarted = await startGallery({ environment, dataDir, key })
    for (const name of ['Ann', 'Ben'])
      assert.equal((await restarted.value('svc.identify', imageParams(name))).matched, true)
    const { subjectId } = await restarted.value('svc.enroll', imageParams('Cid'))
    await restarted.value('svc.deleteSubject', { subjectId })
    await restarted[Symbol.asyncDispose]()
    await rm(dataDir, { recursive: true })
  },
)

test('On SQLite an older version refuses a database that a later version has migrated', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-upgrade-'))
  const store = await openStore(dataDir)
  await applyLaterMigration(store)
  await store.close()
  await assert.rejects(openStore(dataDir), /a later version has migrated .*facegate\.db/u)
  await rm(dataDir, { recursive: true })
})

/** A table with the name of one of the last that the migrations create. */
const foreignTable = 'create table "systemSamples" (id text)'

test('On SQLite a failed migration leaves the tables as they were', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-upgrade-'))
  const file = path.join(dataDir, 'facegate.db')
  await writeFile(file, '', { mode: 0o600 })
  using database = new DatabaseSync(file)
  database.exec(foreignTable)
  await assert.rejects(
    openStore(dataDir),
    /migration of the database to the current schema failed/u,
  )
  const query = `select name from sqlite_schema where type = 'table'`
  const names = database
    .prepare(query)
    .all()
    .map(({ name }) => name)
  assert.deepEqual(names, ['systemSamples'])
  await rm(dataDir, { recursive: true })
})

test(
  'On PostgreSQL a failed migration leaves the database as it was',
  { skip: postgresSkipReason ?? false },
  async () => {
    await using database = await (await sharedPostgresServer()).createDatabase()
    await queryAllAccounts(database.url, foreignTable)
    await assert.rejects(
      openStore({ dataDir: '', databaseUrl: database.url }),
      /migration of the database to the current schema failed/u,
    )
    const query = `select tablename as name from pg_tables where schemaname = 'public'`
    assert.deepEqual(await queryAllAccounts(database.url, query), [{ name: 'systemSamples' }])
  },
)
