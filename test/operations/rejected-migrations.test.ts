import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { migrate as migrateCommand } from '../../src/cli/commands.ts'
import { createMasterKeyFile } from '../../src/gallery/keys/master-key-file.ts'
import { databaseFile } from '../../src/store/sqlite/database-files.ts'
import { tamperWithSqlite } from '../support/database/tamper.ts'
import { runJson } from '../support/cli/run-json.ts'
import { createMigratedDatabase, openStoreAt } from '../support/database/engine.ts'
import {
  clusterSkipReason,
  postgresSkipReason,
  sharedPostgresServer,
  startPostgresCluster,
} from '../support/database/postgres-server.ts'
import { imageParams, startGallery } from '../support/gallery/test-gallery.ts'
import {
  createMigrationSetup,
  holdLock,
  queryAllAccounts,
  requirePasswords,
  runMigration,
  startMigration,
  waitUntil,
} from '../support/migration/run-migration.ts'
import {
  createInstallation,
  type TestInstallation,
} from '../support/migration/test-installation.ts'

const skip = postgresSkipReason ?? false
const clusterSkip = { skip: clusterSkipReason ?? false }

/** Created once; each test migrates a copy of its folder. */
let installation: TestInstallation

before(async () => {
  if (skip === false) installation = await createInstallation(50)
})
after(async () => {
  if (skip === false) await rm(installation.dataDir, { recursive: true, force: true })
})

test(
  'A database with an inconsistent ledger is migrated, and each violation is printed',
  { skip },
  async () => {
    await using setup = await createMigrationSetup(installation.dataDir)
    const { dataDir, url } = setup
    tamperWithSqlite(
      dataDir,
      `update ledgerTransfers set atMs = atMs - 1 where transferId = 5;
     delete from deletions where seq = (select max(seq) from deletions);
     delete from chainHeads where chain = 'auditLog'`,
    )
    const { code, out, err } = await runMigration(dataDir, url)
    assert.equal(code, 0, err)
    assert.match(
      err,
      /^facegate: warning: .* violates L7: transfer 5 .* does not match its hash; /mu,
    )
    assert.match(err, /the deletion records of account \S+ are missing, but the head/u)
    assert.match(err, /the audit rows of account \S+ have no chain head$/mu)
    assert.match(out, /^L6 +ok/mu)
    // The entry of the migration itself begins a new chain.
    assert.match(out, /^L7 +BROKEN +transfer 5 .* but the head of their chain is number 1$/mu)
    assert.match(out, /rows are equal in both databases/u)
    await using gallery = await startGallery({
      dataDir,
      key: installation.key,
      environment: { DATABASE_URL: url },
    })
    assert.equal((await gallery.value('svc.identify', imageParams('Ada'))).matched, true)
  },
)

test('A target that is not empty and a wrong address are rejected', { skip }, async () => {
  await using setup = await createMigrationSetup(installation.dataDir)
  const { dataDir, url } = setup
  const assertRejected = (target: string, reason: RegExp): Promise<void> =>
    assert.rejects(migrateCommand.run(['--from', dataDir, '--to', target]), (error: Error) => {
      assert.match(error.message, reason)
      assert.ok(!error.message.includes('s3cret'), 'the message does not contain the password')
      return true
    })
  const urlWith = (change: Partial<Record<'port' | 'pathname' | 'hostname', string>>) => {
    const changed = new URL(url)
    changed.password = 's3cret'
    return Object.assign(changed, change).href
  }
  await assertRejected(urlWith({ port: '1' }), /no PostgreSQL listens on .*:1/u)
  await assertRejected(urlWith({ hostname: 'nowhere.invalid' }), /the host name of .* is unknown/u)
  await assertRejected(urlWith({ pathname: '/none' }), /there is no database none on/u)
  await assertRejected('mysql://me:s3cret@localhost/x', /must have the form postgres:/u)
  await assertRejected('postgres://me:s3cret#1@localhost/x', /cannot be read/u)
  await queryAllAccounts(url, 'create table invoices (id integer)')
  await assertRejected(urlWith({}), /the database is not empty: it has a table invoices/u)
  await using used = await createMigratedDatabase()
  await queryAllAccounts(used.url, `insert into accounts values ('a', 'a', '2026-01-01')`)
  await assertRejected(used.url, /not empty: a server used it and accounts has rows/u)
  await using restricted = await (await sharedPostgresServer()).createDatabase()
  const adminUrl = Object.assign(new URL(restricted.url), { username: 'postgres' }).href
  await queryAllAccounts(adminUrl, 'alter schema public owner to postgres')
  await assertRejected(
    restricted.url,
    /the role facegate may not create tables in public .* make it the owner/u,
  )
  await queryAllAccounts(url, 'drop table invoices')
  const transfers = countTransfers(dataDir)
  const migrated = await runJson(dataDir, migrateCommand, `--to ${url}`, { DATABASE_URL: '' })
  assert.equal(migrated.wasDone, false, 'the rejected runs changed nothing')
  const [, , , , , { table, rows, amountMicros }] = migrated.comparisons
  assert.deepEqual([table, rows, typeof amountMicros], ['ledgerTransfers', transfers, 'string'])
  assert.equal(migrated.checks.length, 9)
})

test('A database whose encoding is not UTF8 is rejected and stays empty', { skip }, async () => {
  const server = await sharedPostgresServer()
  const database = await server.createDatabase({ template: 'template0', encoding: 'LATIN1' })
  await using setup = await createMigrationSetup(installation.dataDir, database)
  const { dataDir, url } = setup
  const rule =
    /the database facegate_\S+ has the encoding LATIN1; create another one with createdb --encoding UTF8 --template template0/u
  const { code, err } = await runMigration(dataDir, url)
  assert.equal(code, 1)
  assert.match(err, rule)
  const start = async () => {
    await using _gallery = await startGallery({ environment: { DATABASE_URL: url } })
  }
  await assert.rejects(start, rule)
  const tables = 'select relname from pg_class where relnamespace = current_schema()::regnamespace'
  assert.deepEqual(await queryAllAccounts(url, tables), [])
  assert.equal(existsSync(path.join(dataDir, 'moved-to')), false)
})

test(
  'A wrong or missing master key is rejected before the first row is copied',
  { skip },
  async () => {
    await using setup = await createMigrationSetup(installation.dataDir)
    const { dataDir, url } = setup
    const file = path.join(dataDir, 'master.key')
    const assertRejected = async (reason: RegExp): Promise<void> => {
      const { code, err } = await runMigration(dataDir, url)
      assert.equal(code, 1, err)
      assert.match(err, reason)
      const tables = await queryAllAccounts(
        url,
        `select 1 from pg_tables where schemaname = 'public'`,
      )
      assert.equal(tables.length, 0)
    }
    const right = await readFile(file)
    await rm(file)
    await assertRejected(/there is no master key in .*master\.key: restore the file/u)
    createMasterKeyFile(file)
    await assertRejected(/the master key \S+ is not in .*master\.key/u)
    await writeFile(file, right)
    assert.equal((await runMigration(dataDir, url)).code, 0)
  },
)

function countTransfers(dataDir: string): number {
  using database = new DatabaseSync(path.join(dataDir, databaseFile), { readOnly: true })
  return Number(database.prepare('select count(*) as n from ledgerTransfers').get()?.['n'])
}

test(
  'A migration ends when the server crashes, and reports a wrong password',
  clusterSkip,
  async () => {
    await using cluster = await startPostgresCluster()
    await using setup = await createMigrationSetup(
      installation.dataDir,
      await cluster.createDatabase(),
    )
    const { dataDir, url } = setup
    await (await openStoreAt(url)).close()
    const lock = await holdLock(url, 'lock table templates in share mode')
    const { result } = startMigration(dataDir, url)
    await waitUntil(
      async () => (await queryAllAccounts(url, 'select from faces limit 1')).length === 1,
    )
    await cluster.killAll()
    const interrupted = await result
    assert.equal(interrupted.code, 1)
    assert.match(interrupted.err, /127\.0\.0\.1:\d+ does not respond: .* run the command again/u)
    await cluster.restart()
    await lock[Symbol.asyncDispose]()
    assert.equal((await runMigration(dataDir, url)).code, 0)

    await requirePasswords(cluster.adminUrl)
    const wrongUrl = Object.assign(new URL(url), { password: 's3cret' }).href
    const wrong = await runMigration(dataDir, wrongUrl)
    assert.match(wrong.err, /127\.0\.0\.1:\d+ refuses the password of the role facegate$/mu)
    assert.ok(!wrong.err.includes('s3cret'))
    const missing = await runMigration(dataDir, url)
    assert.match(missing.err, /requires a password for the role facegate/u)
  },
)
