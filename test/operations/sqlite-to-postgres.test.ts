import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { auditLedger } from '../../src/billing/audit-ledger.ts'
import { migrate as migrateCommand } from '../../src/cli/migrate/migrate.ts'
import { openStore } from '../../src/store/open-store.ts'
import { openSqlite } from '../../src/store/sqlite/connection.ts'
import { runJson } from '../support/cli/run-json.ts'
import { createConsoleClient } from '../support/console/test-console.ts'
import { createMigratedDatabase } from '../support/database/engine.ts'
import { imageParams, startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'
import {
  recordResponses,
  createInstallation,
  type TestInstallation,
} from '../support/migration/test-installation.ts'
import {
  holdLock,
  runMigration,
  createMigrationSetup,
  queryAllAccounts,
  requirePasswords,
  startMigration,
} from '../support/migration/run-migration.ts'
import {
  clusterSkipReason,
  postgresSkipReason,
  sharedPostgresServer,
  startPostgresCluster,
} from '../support/database/postgres-server.ts'

const skip = postgresSkipReason ?? false
const clusterSkip = { skip: clusterSkipReason ?? false }

/** 10,000 in the measurements of docs/operations/sqlite-to-postgresql.md. */
const subjects = Number(process.env['MIGRATE_SUBJECTS'] ?? 1200)

/** Made once; each test moves a copy of its folder. */
let installation: TestInstallation

before(async () => {
  if (skip === false) installation = await createInstallation(subjects)
})
after(async () => {
  if (skip === false) await rm(installation.dataDir, { recursive: true, force: true })
})

const createSetup = (database?: Parameters<typeof createMigrationSetup>[1]) =>
  createMigrationSetup(installation.dataDir, database)

test('everything is there after a move, and answers as before', { skip }, async (t) => {
  await using moving = await createSetup()
  const { dataDir, url } = moving
  const said = await runMigration(dataDir, url)
  assert.equal(said.code, 0, said.err)
  assert.match(said.out, new RegExp(`^templates +${subjects + 5}$`, 'mu'))
  assert.match(said.out, /^L9 +ok/mu)
  assert.match(said.out, /Calls interrupted with the server, not charged: 1/u)
  t.diagnostic(/^\d+ rows are there.*$/mu.exec(said.out)?.[0] ?? '')

  const { key } = installation
  for (const SEARCH of ['pgvector', 'memory']) {
    await using gallery = await startGallery({
      dataDir,
      environment: { DATABASE_URL: url, SEARCH },
      key,
    })
    await assertSame(gallery)
    if (SEARCH === 'memory') await assertStillWorks(gallery)
  }
  const again = await runMigration(dataDir, url)
  assert.equal(again.code, 0, again.err)
  assert.match(again.out, /was moved to .* there is nothing to do/u)
})

/** Whoever had a key, a session or an answer has it still, and nobody else. */
async function assertSame(gallery: TestGallery): Promise<void> {
  const {
    responses: answers,
    completedCall: answered,
    otherKeys,
    revokedKey,
    cookie,
  } = installation
  assert.deepEqual(await recordResponses(gallery, subjects), answers)

  const before = await balances(gallery)
  const replay = (await gallery.post(answered.body)).body
  assert.deepEqual([replay.errors, replay.data], [[], answered.data])
  assert.deepEqual(await balances(gallery), before, 'a replay costs nothing')

  const [shared = '', stranger = ''] = otherKeys
  assert.equal(
    (await gallery.withKey(shared).value('svc.identify', imageParams('Yan'))).matched,
    true,
  )
  assert.equal(
    (await gallery.withKey(stranger).value('svc.identify', imageParams('Zoe'))).matched,
    true,
  )
  assert.equal(
    (await gallery.withKey(stranger).value('svc.identify', imageParams('Ada'))).matched,
    false,
  )
  assert.equal(
    (await gallery.withKey(revokedKey).call('svc.identify', imageParams('Ada'))).status,
    401,
  )
  const session = await createConsoleClient(gallery.url).raw('GET', '/session', { cookie })
  assert.equal(session.body.user.name, 'Olga')
}

function balances({ database: books }: TestGallery) {
  return books.store.db.selectFrom('ledgers').selectAll().orderBy('ledger').execute()
}

/** What is new is numbered behind what was there, and the books are whole with it. */
async function assertStillWorks(gallery: TestGallery): Promise<void> {
  const made = await gallery.value('svc.enroll', { ...imageParams('Newcomer'), externalId: 'new' })
  assert.equal(made.created, true)
  const { subjectId } = made
  assert.equal((await gallery.value('svc.identify', imageParams('Newcomer'))).matched, true)
  await gallery.value('svc.deleteSubject', { subjectId })
  assert.equal((await gallery.value('svc.identify', imageParams('Newcomer'))).matched, false)
  const checks = await auditLedger(gallery.database.store.db, Date.now())
  assert.deepEqual(
    checks.filter(({ ok }) => !ok),
    [],
  )
}

test('what is new is kept by month and by number where the old is', { skip }, async () => {
  await using moving = await createSetup()
  assert.equal((await runMigration(moving.dataDir, moving.url)).code, 0)
  const months = await queryAllAccounts(
    moving.url,
    `select distinct tableoid::regclass::text as "table" from calls`,
  )
  assert.equal(months.length, 4, 'three old months and this one')
  assert.ok(months.every(({ table }) => /^calls_\d{4}_\d\d$/u.test(String(table))))
  for (const change of [
    `update "ledgerTransfers" set "amountMicros" = 1`,
    'delete from deletions',
    `update "adminActs" set act = 'x'`,
  ])
    await assert.rejects(queryAllAccounts(moving.url, change), /append-only/u)
})

test('no server starts on a database that was moved, until one says so', { skip }, async () => {
  await using moving = await createSetup()
  const { dataDir, url } = moving
  assert.equal((await runMigration(dataDir, url)).code, 0)
  const sqlite = { dataDir, key: installation.key, environment: { DATABASE_URL: '' } }
  await assert.rejects(
    startGallery(sqlite),
    /was moved to .* set DATABASE_URL, or delete .*moved-to/u,
  )
  await assert.rejects(openStore(dataDir), /was moved to/u)

  await using elsewhere = await createSetup()
  const other = await runMigration(dataDir, elsewhere.url)
  assert.equal(other.code, 1)
  assert.match(other.err, /was moved to .* to move it again, delete .*moved-to/u)
  await rm(path.join(dataDir, 'moved-to'))
  await using gallery = await startGallery(sqlite)
  assert.equal((await gallery.value('svc.identify', imageParams('Ada'))).matched, true)
  const running = await runMigration(dataDir, elsewhere.url)
  assert.equal(running.code, 1)
  assert.match(running.err, new RegExp(`process ${process.pid} .* stop it first`, 'u'))
})

test('killed between two tables and within one, it goes on where it was', { skip }, async () => {
  await using moving = await createSetup(await createMigratedDatabase())
  const { dataDir, url } = moving
  const rowsOf = (table: string) =>
    queryAllAccounts(url, `select rows from "migrationTables" where "tableName" = '${table}'`)
  {
    await using _held = await holdLock(url, 'lock table templates in share mode')
    await killOnce(startMigration(dataDir, url), async () => (await rowsOf('faces')).length === 1)
  }
  assert.deepEqual(await rowsOf('templates'), [])
  await assert.rejects(startGallery({ dataDir, environment: { DATABASE_URL: '' } }), /being moved/u)
  await assert.rejects(
    startGallery({ dataDir, environment: { DATABASE_URL: url } }),
    /facegate migrate began to fill this database at .* and has not finished/u,
  )
  {
    const [late] = await queryAllAccounts(
      url,
      'select "faceId" from faces order by "faceId" offset 700 limit 1',
    )
    const lock = `select from faces where "faceId" = '${String(late?.['faceId'])}' for update`
    await using _held = await holdLock(url, lock)
    const isHalf = async () => (await rowsOf('templates'))[0]?.['rows'] === '500'
    await killOnce(startMigration(dataDir, url), isHalf)
  }
  const said = await runMigration(dataDir, url)
  assert.equal(said.code, 0, said.err)
  const [, all, added] =
    /^(\d+) rows are equal in both databases: (\d+) were/mu.exec(said.out) ?? []
  assert.ok(Number(added) < Number(all) - 2 * subjects, `${added} of ${all} were left`)
  const { key } = installation
  await using gallery = await startGallery({ dataDir, key, environment: { DATABASE_URL: url } })
  await assertSame(gallery)
})

/** Kills a move that waits for a lock as soon as it has come that far. */
async function killOnce(
  { process: child, result: ended }: ReturnType<typeof startMigration>,
  isThere: () => Promise<boolean>,
): Promise<void> {
  await waitUntil(isThere)
  assert.equal(child.exitCode, null, 'the move waits')
  child.kill('SIGKILL')
  await ended
}

const waitMsMax = 60_000

async function waitUntil(isThere: () => Promise<boolean>): Promise<void> {
  for (const endMs = Date.now() + waitMsMax; !(await isThere().catch(() => false)); await sleep(50))
    assert.ok(Date.now() < endMs, 'the move never came that far')
}

test('a row that differs is named, and still no server starts', { skip }, async () => {
  await using moving = await createSetup(await createMigratedDatabase())
  const { dataDir, url } = moving
  {
    await using _held = await holdLock(url, 'lock table templates in share mode')
    const isThere = async () =>
      (await queryAllAccounts(url, 'select from faces limit 1')).length === 1
    await killOnce(startMigration(dataDir, url), isThere)
  }
  await queryAllAccounts(
    url,
    `update subjects set "displayName" = 'Eve' where "externalId" = 'ada'`,
  )
  await queryAllAccounts(
    url,
    `update ledgers set "balanceMicros" = "balanceMicros" + 1 where ledger like 'w%'`,
  )
  const said = await runMigration(dataDir, url)
  assert.equal(said.code, 1)
  assert.match(said.err, /subjects \["[0-9a-f-]{36}"\] differs in displayName/u)
  assert.match(said.err, /ledgers.balanceMicros sums to \d+ here, to \d+ there/u)
  assert.ok(!said.err.includes('Eve'), 'what a row holds is not told')
  const environment = { DATABASE_URL: url }
  await assert.rejects(startGallery({ dataDir, environment }), /has not finished/u)
})

test('books that are not whole are not moved', { skip }, async () => {
  await using moving = await createSetup()
  const { dataDir, url } = moving
  const tampered = openSqlite(path.join(dataDir, 'facegate.db'))
  const file = tampered.prepare(`select sql from sqlite_schema where name = :name`)
  const trigger = String(file.get({ name: 'ledgerTransfers_no_update' })?.['sql'])
  tampered.exec(`drop trigger ledgerTransfers_no_update;
    update ledgerTransfers set atMs = atMs - 1 where transferId = 5; ${trigger}`)
  tampered.close()
  const said = await runMigration(dataDir, url)
  assert.equal(said.code, 1)
  assert.match(said.err, /the books of .* are not whole: L7: transfer 5 .* not match its hash/u)
  assert.deepEqual(
    await queryAllAccounts(url, `select from pg_tables where schemaname = 'public'`),
    [],
  )
  await using gallery = await startGallery({
    dataDir,
    key: installation.key,
    environment: { DATABASE_URL: '' },
  })
  assert.equal((await gallery.value('svc.identify', imageParams('Ada'))).matched, true)
})

test('a database that is not empty is refused, and so is a wrong address', { skip }, async () => {
  await using moving = await createSetup()
  const { dataDir, url } = moving
  const refused = (to: string, why: RegExp): Promise<void> =>
    assert.rejects(migrateCommand.run(['--from', dataDir, '--to', to]), (error: Error) => {
      assert.match(error.message, why)
      assert.ok(!error.message.includes('s3cret'), 'the password is told to nobody')
      return true
    })
  const at = (change: Partial<Record<'port' | 'pathname' | 'hostname' | 'protocol', string>>) => {
    const other = new URL(url)
    other.password = 's3cret'
    return Object.assign(other, change).href
  }
  await refused(at({ port: '1' }), /no PostgreSQL listens on .*:1/u)
  await refused(at({ hostname: 'nowhere.invalid' }), /there is no host of the name/u)
  await refused(at({ pathname: '/none' }), /there is no database none on/u)
  await refused('mysql://me:s3cret@localhost/x', /must have the form postgres:/u)
  await refused('postgres://me:s3cret#1@localhost/x', /cannot be read/u)
  await queryAllAccounts(url, 'create table invoices (id integer)')
  await refused(at({}), /the database is not empty: it has a table invoices/u)
  await using used = await createMigratedDatabase()
  await queryAllAccounts(used.url, `insert into accounts values ('a', 'a', '2026-01-01')`)
  await refused(used.url, /not empty: a server has worked on it, accounts has rows/u)
  await using poor = await (await sharedPostgresServer()).createDatabase()
  const admin = Object.assign(new URL(poor.url), { username: 'postgres' }).href
  await queryAllAccounts(admin, 'alter schema public owner to postgres')
  await refused(poor.url, /the role facegate may not make tables in public .* make it the owner/u)
  await queryAllAccounts(url, 'drop table invoices')
  const moved = await runJson(dataDir, migrateCommand, `--to ${url}`, { DATABASE_URL: '' })
  assert.equal(moved.wasDone, false, 'no refusal has left anything behind')
  const [, , , , , { table, rows, amountMicros }] = moved.comparisons
  assert.deepEqual([table, rows, typeof amountMicros], ['ledgerTransfers', 33, 'string'])
  assert.equal(moved.checks.length, 9)
})

test(
  'a server that dies is waited for by nobody; a wrong password is named',
  clusterSkip,
  async () => {
    await using cluster = await startPostgresCluster()
    await using moving = await createSetup(await cluster.createDatabase())
    const { dataDir, url } = moving
    await (await openStore({ dataDir: '', databaseUrl: url })).close()
    const held = await holdLock(url, 'lock table templates in share mode')
    const { result: ended } = startMigration(dataDir, url)
    await waitUntil(
      async () => (await queryAllAccounts(url, 'select from faces limit 1')).length === 1,
    )
    await cluster.killAll()
    const cut = await ended
    assert.equal(cut.code, 1)
    assert.match(cut.err, /127\.0\.0\.1:\d+ does not answer: .* run the command again/u)
    await cluster.restart()
    await held[Symbol.asyncDispose]()
    assert.equal((await runMigration(dataDir, url)).code, 0)

    await requirePasswords(cluster.adminUrl)
    const wrong = Object.assign(new URL(url), { password: 's3cret' }).href
    const said = await runMigration(dataDir, wrong)
    assert.match(said.err, /127\.0\.0\.1:\d+ refuses the password of the role facegate$/mu)
    assert.ok(!said.err.includes('s3cret'))
    assert.match((await runMigration(dataDir, url)).err, /wants a password of the role facegate/u)
  },
)
