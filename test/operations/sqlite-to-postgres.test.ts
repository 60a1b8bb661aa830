import assert from 'node:assert/strict'
import { copyFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { openStore } from '../../src/store/open-store.ts'
import { runCli } from '../support/cli/run-cli.ts'
import { createConsoleClient } from '../support/console/test-console.ts'
import { createMigratedDatabase } from '../support/database/engine.ts'
import { postgresSkipReason } from '../support/database/postgres-server.ts'
import { imageParams, startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'
import { assertLedgerAudit } from '../support/gate/test-gate.ts'
import { missingStates } from '../support/migration/all-states.ts'
import {
  createMigrationSetup,
  holdLock,
  killWhen,
  queryAllAccounts,
  runMigration,
  startMigration,
} from '../support/migration/run-migration.ts'
import {
  createInstallation,
  recordResponses,
  type TestInstallation,
} from '../support/migration/test-installation.ts'

const skip = postgresSkipReason ?? false

/** 10,000 in the measurements of docs/operations/sqlite-to-postgresql.md. */
const subjects = Number(process.env['MIGRATE_SUBJECTS'] ?? 1200)

/** Created once; each test migrates a copy of its folder. */
let installation: TestInstallation

before(async () => {
  if (skip === false) installation = await createInstallation(subjects)
})
after(async () => {
  if (skip === false) await rm(installation.dataDir, { recursive: true, force: true })
})

const createSetup = (database?: Parameters<typeof createMigrationSetup>[1]) =>
  createMigrationSetup(installation.dataDir, database)

test('The migrated installation has every kind of row in every state', { skip }, () => {
  assert.deepEqual(missingStates(installation.dataDir), [])
})

test('After a migration all data exists, and responses are unchanged', { skip }, async (t) => {
  await using setup = await createSetup()
  const { dataDir, url } = setup
  const first = await runMigration(dataDir, url)
  assert.equal(first.code, 0, first.err)
  assert.match(first.out, new RegExp(`^templates +${subjects + 5}$`, 'mu'))
  assert.match(first.out, /^L9 +ok/mu)
  assert.match(first.out, /^Calls interrupted with the server, not charged: 1$/mu)
  assert.deepEqual(await queryAllAccounts(url, 'select from "galleryPages"'), [])
  t.diagnostic(/^\d+ rows are .*$/mu.exec(first.out)?.[0] ?? '')

  const { key } = installation
  for (const SEARCH of ['pgvector', 'memory']) {
    const environment = { DATABASE_URL: url, SEARCH }
    await using gallery = await startGallery({ dataDir, environment, key })
    await assertUnchanged(gallery)
    if (SEARCH === 'memory') await assertWritable(gallery)
  }
  const second = await runMigration(dataDir, url)
  assert.equal(second.code, 0, second.err)
  assert.match(second.out, /was moved to .* there is nothing to do/u)
})

/** Verifies that keys, sessions and stored responses have the same effect as before. */
async function assertUnchanged(gallery: TestGallery): Promise<void> {
  const { responses, completedCall, otherKeys, neverCalledKey, revokedKey, cookie } = installation
  assert.deepEqual(await recordResponses(gallery, subjects), responses)

  const before = await readLedgers(gallery)
  const replay = (await gallery.post(completedCall.body)).body
  assert.deepEqual([replay.errors, replay.data], [[], completedCall.data])
  assert.deepEqual(await readLedgers(gallery), before, 'a replay costs nothing')

  const [sharedKey = '', otherAccountKey = ''] = otherKeys
  const isMatched = async (key: string, name: string): Promise<boolean> =>
    (await gallery.withKey(key).value('svc.identify', imageParams(name))).matched
  assert.equal(await isMatched(sharedKey, 'Yan'), true)
  assert.equal(await isMatched(otherAccountKey, 'Zoe'), true)
  assert.equal(await isMatched(otherAccountKey, 'Ada'), false)
  assert.equal(await isMatched(neverCalledKey, 'Ada'), false)
  const revoked = await gallery.withKey(revokedKey).call('svc.identify', imageParams('Ada'))
  assert.equal(revoked.status, 401)
  const session = await createConsoleClient(gallery.url).raw('GET', '/session', { cookie })
  assert.equal(session.body.user.name, 'Olga')
}

function readLedgers({ database }: TestGallery) {
  return database.store.db.selectFrom('ledgers').selectAll().orderBy('ledger').execute()
}

/** Verifies that new rows continue the sequences, and that the ledger is consistent with them. */
async function assertWritable(gallery: TestGallery): Promise<void> {
  const params = { ...imageParams('New subject'), externalId: 'new' }
  const { created, subjectId } = await gallery.value('svc.enroll', params)
  assert.equal(created, true)
  assert.equal((await gallery.value('svc.identify', imageParams('New subject'))).matched, true)
  await gallery.value('svc.deleteSubject', { subjectId })
  assert.equal((await gallery.value('svc.identify', imageParams('New subject'))).matched, false)
  await assertLedgerAudit(gallery)
}

test('A migration creates the log’s partitions and enables the triggers', { skip }, async () => {
  await using setup = await createSetup()
  assert.equal((await runMigration(setup.dataDir, setup.url)).code, 0)
  const partitions = await queryAllAccounts(
    setup.url,
    `select distinct tableoid::regclass::text as "table" from calls`,
  )
  assert.equal(partitions.length, 4, 'three old months and the current one')
  assert.ok(partitions.every(({ table }) => /^calls_\d{4}_\d\d$/u.test(String(table))))
  const moves = await queryAllAccounts(
    setup.url,
    `select "userName" from "auditLog" where "auditAction" = 'database.migrate'`,
  )
  assert.deepEqual(
    moves.map(({ userName }) => userName),
    ['command line'],
  )
  for (const change of [
    `update "ledgerTransfers" set "amountMicros" = 1`,
    'delete from deletions',
    `update "auditLog" set "auditAction" = 'x'`,
  ])
    await assert.rejects(queryAllAccounts(setup.url, change), /append-only/u)
})

test('No server starts on a migrated database until its marker is deleted', { skip }, async () => {
  await using setup = await createSetup()
  const { dataDir, url } = setup
  assert.equal((await runMigration(dataDir, url)).code, 0)
  const sqlite = { dataDir, key: installation.key, environment: { DATABASE_URL: '' } }
  await assert.rejects(
    startGallery(sqlite),
    /was migrated to .* set DATABASE_URL, or delete .*moved-to/u,
  )
  await assert.rejects(openStore(dataDir), /was migrated to/u)

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

test(
  'After a rotation on PostgreSQL, only a copy of the former master key opens the old database',
  {
    skip,
  },
  async () => {
    await using setup = await createSetup()
    const { dataDir, url } = setup
    assert.equal((await runMigration(dataDir, url)).code, 0)
    const copy = path.join(dataDir, 'former.key')
    await copyFile(path.join(dataDir, 'master.key'), copy)
    const settings = { DATA_DIR: dataDir, DATABASE_URL: url }
    const rotated = await runCli(['key', 'rotate-master'], settings)
    assert.equal(rotated.code, 0, rotated.err)
    await rm(path.join(dataDir, 'moved-to'))
    const start = (environment: Readonly<Record<string, string>>) =>
      startGallery({ dataDir, key: installation.key, environment })
    await assert.rejects(start({ DATABASE_URL: '' }), /the master key .* is not in .*master\.key/u)
    await using gallery = await start({ DATABASE_URL: '', MASTER_KEY_FILE: copy })
    assert.equal((await gallery.value('svc.identify', imageParams('Ada'))).matched, true)
  },
)

test('A migration that was killed continues after its last batch', { skip }, async () => {
  await using setup = await createSetup(await createMigratedDatabase())
  const { dataDir, url } = setup
  const progressOf = (table: string) =>
    queryAllAccounts(url, `select rows from "migrationTables" where "tableName" = '${table}'`)
  {
    await using _lock = await holdLock(url, 'lock table templates in share mode')
    const hasFaces = async () => (await progressOf('faces')).length === 1
    await killWhen(startMigration(dataDir, url), hasFaces)
  }
  assert.deepEqual(await progressOf('templates'), [])
  await assert.rejects(
    startGallery({ dataDir, environment: { DATABASE_URL: '' } }),
    /being migrated/u,
  )
  await assert.rejects(
    startGallery({ dataDir, environment: { DATABASE_URL: url } }),
    /facegate migrate began to fill this database at .* and has not finished/u,
  )
  {
    const [face] = await queryAllAccounts(
      url,
      'select "faceId" from faces order by "faceId" offset 700 limit 1',
    )
    const lock = `select from faces where "faceId" = '${String(face?.['faceId'])}' for update`
    await using _lock = await holdLock(url, lock)
    const hasFirstBatch = async () => (await progressOf('templates'))[0]?.['rows'] === '500'
    await killWhen(startMigration(dataDir, url), hasFirstBatch)
  }
  const last = await runMigration(dataDir, url)
  assert.equal(last.code, 0, last.err)
  const [, all, added] =
    /^(\d+) rows are equal in both databases: (\d+) were/mu.exec(last.out) ?? []
  assert.ok(Number(added) < Number(all) - 2 * subjects, `${added} of ${all} were missing`)
  const { key } = installation
  await using gallery = await startGallery({ dataDir, key, environment: { DATABASE_URL: url } })
  await assertUnchanged(gallery)
})

test('A differing row is reported, and no server starts', { skip }, async () => {
  await using setup = await createSetup(await createMigratedDatabase())
  const { dataDir, url } = setup
  {
    await using _lock = await holdLock(url, 'lock table templates in share mode')
    const hasFaces = async () =>
      (await queryAllAccounts(url, 'select from faces limit 1')).length === 1
    await killWhen(startMigration(dataDir, url), hasFaces)
  }
  await queryAllAccounts(
    url,
    `update subjects set "displayName" = 'Eve' where "externalId" = 'ada'`,
  )
  await queryAllAccounts(
    url,
    `update ledgers set "balanceMicros" = "balanceMicros" + 1 where ledger like 'budget:%'`,
  )
  const { code, err } = await runMigration(dataDir, url)
  assert.equal(code, 1)
  assert.match(err, /subjects \["[0-9a-f-]{36}"\] differs in displayName/u)
  assert.match(err, /sum of ledgers\.balanceMicros is \d+ in the source, \d+ in the target/u)
  assert.ok(!err.includes('Eve'), 'the message contains no values of rows')
  const environment = { DATABASE_URL: url }
  await assert.rejects(startGallery({ dataDir, environment }), /has not finished/u)
})
