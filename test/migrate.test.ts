import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { verifyBooks } from '../src/billing/verify.ts'
import { openStore } from '../src/store/database.ts'
import { browserAt } from './console.ts'
import { images, startGallery, type TestGallery } from './gallery.ts'
import { ask, makeInstallation, type Installation } from './installation.ts'
import { migrate, migrationPlace } from './migrate.ts'
import { postgresMissing } from './postgres.ts'

const skip = postgresMissing ?? false

/** 10,000 in the measurements of docs/migrate.md. */
const subjects = Number(process.env['MIGRATE_SUBJECTS'] ?? 1200)

test('everything is there after a move, and answers as before', { skip }, async (t) => {
  await using place = await migrationPlace()
  const { dataDir, url } = place
  const installation = await makeInstallation(dataDir, subjects)

  const said = await migrate(dataDir, url)
  assert.equal(said.code, 0, said.err)
  assert.match(said.out, new RegExp(`^templates +${subjects + 5}$`, 'mu'))
  assert.match(said.out, /^L9 +ok/mu)
  assert.match(said.out, /Calls cut off with the server, not billed: 1/u)
  t.diagnostic(/^\d+ rows are there.*$/mu.exec(said.out)?.[0] ?? '')

  await using gallery = await startGallery({
    dataDir,
    environment: { DATABASE_URL: url },
    key: installation.key,
  })
  await assertSame(gallery, installation)
  await assertGoesOn(gallery)
  const again = await migrate(dataDir, url)
  assert.equal(again.code, 0, again.err)
  assert.match(again.out, /was moved to .* there is nothing left to do/u)
})

/** Whoever had a key, a session or an answer has it still, and nobody else. */
async function assertSame(gallery: TestGallery, installation: Installation): Promise<void> {
  const { answers, answered, otherKeys, revokedKey, cookie } = installation
  assert.deepEqual(await ask(gallery, subjects), answers)

  const before = await balances(gallery)
  const replay = (await gallery.post(answered.body)).body
  assert.deepEqual([replay.errors, replay.data], [[], answered.data])
  assert.deepEqual(await balances(gallery), before, 'a replay costs nothing')

  const [shared = '', stranger = ''] = otherKeys
  assert.equal((await gallery.as(shared).value('svc.identify', images('Yan'))).matched, true)
  assert.equal((await gallery.as(stranger).value('svc.identify', images('Zoe'))).matched, true)
  assert.equal((await gallery.as(stranger).value('svc.identify', images('Ada'))).matched, false)
  assert.equal((await gallery.as(revokedKey).call('svc.identify', images('Ada'))).status, 401)
  const session = await browserAt(gallery.url).raw('GET', '/session', { cookie })
  assert.equal(session.body.user.name, 'Olga')
}

function balances({ books }: TestGallery) {
  return books.store.db.selectFrom('ledgers').selectAll().orderBy('ledger').execute()
}

/** What is new is numbered behind what was there, and the books are whole with it. */
async function assertGoesOn(gallery: TestGallery): Promise<void> {
  const made = await gallery.value('svc.enroll', { ...images('Newcomer'), externalId: 'new' })
  assert.equal(made.created, true)
  const { subjectId } = made
  assert.equal((await gallery.value('svc.identify', images('Newcomer'))).matched, true)
  await gallery.value('svc.deleteSubject', { subjectId })
  assert.equal((await gallery.value('svc.identify', images('Newcomer'))).matched, false)
  const checks = await verifyBooks(gallery.books.store.db, Date.now())
  assert.deepEqual(
    checks.filter(({ ok }) => !ok),
    [],
  )
}

test('no server starts on the database that was moved, until one says so', { skip }, async () => {
  await using place = await migrationPlace()
  const { dataDir, url } = place
  const { key } = await makeInstallation(dataDir, 0)
  assert.equal((await migrate(dataDir, url)).code, 0)
  const sqlite = { dataDir, key, environment: { DATABASE_URL: '' } }
  await assert.rejects(
    startGallery(sqlite),
    /was moved to .* set DATABASE_URL, or delete .*moved-to/u,
  )
  await assert.rejects(openStore(dataDir), /was moved to/u)

  await using elsewhere = await migrationPlace()
  const other = await migrate(dataDir, elsewhere.url)
  assert.equal(other.code, 1)
  assert.match(other.err, /was moved to .* to move it once more, delete .*moved-to/u)
  await rm(path.join(dataDir, 'moved-to'))
  await using gallery = await startGallery(sqlite)
  assert.equal((await gallery.value('svc.identify', images('Ada'))).matched, true)
  const running = await migrate(dataDir, elsewhere.url)
  assert.equal(running.code, 1)
  assert.match(running.err, new RegExp(`process ${process.pid} .* stop it first`, 'u'))
})
