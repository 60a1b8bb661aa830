import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { runCliProcess } from '../support/cli/run-cli.ts'
import { createDataFolder } from '../support/database/data-folder.ts'
import {
  postgresSkipReason,
  runSql,
  sharedPostgresServer,
  type TestDatabase,
} from '../support/database/postgres-server.ts'
import { queryAllAccounts } from '../support/migration/run-migration.ts'

const plantedTables = `
  create table accounts ("accountId" text primary key, name text);
  insert into accounts values ('a', 'the account of a draft');
  create table kysely_migration (name text primary key, timestamp text not null);
  insert into kysely_migration values ('0001-tenancy', '2026-01-01T00:00:00.000Z')`

const refusal =
  /was created by a draft of version 0\.1\.0 \(migration 0001-tenancy\) .* Start with an empty/u

/** Creates a folder with the database of a draft, as a restored copy: without a write-ahead log. */
async function createDraftFolder(): Promise<AsyncDisposable & { readonly dataDir: string }> {
  const dataDir = await createDataFolder()
  const file = path.join(dataDir, 'facegate.db')
  await rm(file)
  await writeFile(file, '', { mode: 0o600 })
  const database = new DatabaseSync(file)
  database.exec(plantedTables)
  database.close()
  return { dataDir, [Symbol.asyncDispose]: () => rm(dataDir, { recursive: true }) }
}

test('The database file of a draft is refused by the server and by commands, and stays as it is', async () => {
  await using draft = await createDraftFolder()
  const { dataDir } = draft
  const file = path.join(dataDir, 'facegate.db')
  const content = await readFile(file)
  const refuse = async (args: readonly string[], environment: Readonly<Record<string, string>>) => {
    const { code, out, err } = await runCliProcess(args, { DATABASE_URL: '', ...environment })
    assert.equal(code, 1, `${args.join(' ')}: ${out}`)
    assert.match(err, refusal)
    assert.ok(content.equals(await readFile(file)))
  }
  await refuse(['serve'], { DATA_DIR: dataDir, PORT: '0' })
  await refuse(['account', 'list'], { DATA_DIR: dataDir })
  await refuse(['ledger', 'verify'], { DATA_DIR: dataDir })
  const files = (await readdir(dataDir)).filter((name) => name.startsWith('facegate'))
  assert.deepEqual(files, ['facegate.db'])

  const target = await mkdtemp(path.join(tmpdir(), 'facegate-restore-'))
  await refuse(['restore', '--from', file, '--deletions', 'none'], { DATA_DIR: target })
  assert.deepEqual(await readdir(target), [])
  await rm(target, { recursive: true })
})

/** Runs a test with a database of a draft, and checks that it stays as it is. */
async function withDraftDatabase(run: (database: TestDatabase) => Promise<void>): Promise<void> {
  await using database = await (await sharedPostgresServer()).createDatabase()
  const { url } = database
  await runSql(url, plantedTables)
  await run(database)
  const tables = await queryAllAccounts(
    url,
    `select string_agg(tablename, ' ' order by 1) as names from pg_tables
     where schemaname = 'public'`,
  )
  assert.deepEqual(tables, [{ names: 'accounts kysely_migration' }])
  assert.deepEqual(await queryAllAccounts(url, 'select * from accounts'), [
    { accountId: 'a', name: 'the account of a draft' },
  ])
  const applied = await queryAllAccounts(url, 'select name from kysely_migration')
  assert.deepEqual(applied, [{ name: '0001-tenancy' }])
}

test(
  'A PostgreSQL database of a draft is refused by the server and by commands, and stays as it is',
  { skip: postgresSkipReason ?? false },
  () =>
    withDraftDatabase(async ({ url }) => {
      const dataDir = await createDataFolder()
      const settings = { DATA_DIR: dataDir, DATABASE_URL: url, PORT: '0' }
      for (const args of [['serve'], ['account', 'list']]) {
        const { code, err } = await runCliProcess(args, settings)
        assert.equal(code, 1)
        assert.match(err, refusal)
      }
      await rm(dataDir, { recursive: true })
    }),
)

test(
  'A database of a draft is neither migrated to PostgreSQL nor filled by a migration',
  { skip: postgresSkipReason ?? false },
  async () => {
    await withDraftDatabase(async ({ url }) => {
      const dataDir = await createDataFolder()
      const { code, err } = await runCliProcess(['migrate', '--from', dataDir], {
        DATABASE_URL: url,
      })
      assert.equal(code, 1)
      assert.match(err, /the database is not empty/u)
      await rm(dataDir, { recursive: true })
    })
    await using draft = await createDraftFolder()
    await using target = await (await sharedPostgresServer()).createDatabase()
    const content = await readFile(path.join(draft.dataDir, 'facegate.db'))
    const settings = { DATABASE_URL: target.url }
    const { code, err } = await runCliProcess(['migrate', '--from', draft.dataDir], settings)
    assert.equal(code, 1)
    assert.match(err, refusal)
    assert.ok(content.equals(await readFile(path.join(draft.dataDir, 'facegate.db'))))
    assert.deepEqual(
      await queryAllAccounts(target.url, `select from pg_tables where schemaname = 'public'`),
      [],
    )
  },
)
