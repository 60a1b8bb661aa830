import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { runAsAllAccounts } from '../../../src/lib/account-context.ts'
import type { Store } from '../../../src/store/database.ts'
import type { GalleryPageRow } from '../../../src/store/gallery-schema.ts'
import { deletePages, storePage } from '../../../src/store/gallery/search/gallery-pages.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { seedAccount } from '../../support/database/account-rows.ts'
import { createMigratedDatabase } from '../../support/database/engine.ts'
import { postgresSkipReason, type TestDatabase } from '../../support/database/postgres-server.ts'

/**
 * Deletions by a transaction that does not lock the gallery, such as one of an administrator. They use
 * another connection, so that both transactions run at the same time.
 */
const options = postgresSkipReason === undefined ? {} : { skip: postgresSkipReason }

let database: TestDatabase
let store: Store
/** The connections of the deletion, and of the test that waits for it. */
let other: Client
let probe: Client
let page: GalleryPageRow

before(async () => {
  if (postgresSkipReason !== undefined) return
  database = await createMigratedDatabase()
  store = await openStore({ dataDir: '', databaseUrl: database.url })
  await runAsAllAccounts(async () => {
    await seedAccount(store, 'own')
    const [stored] = await store.db.selectFrom('galleryPages').selectAll().execute()
    assert.ok(stored)
    page = { ...stored, ciphertext: randomBytes(100) }
  })
  other = new Client({ connectionString: database.url })
  probe = new Client({ connectionString: database.url })
  await Promise.all([other.connect(), probe.connect()])
  await other.query(`set "facegate.account" = '*'`)
})

after(async () => {
  await Promise.all([other?.end(), probe?.end()])
  await store?.close()
  await database?.[Symbol.asyncDispose]()
})

const deletions: Readonly<Record<string, string>> = {
  face: 'delete from faces',
  subject: 'delete from subjects',
  template: `update templates set ciphertext = 'other'`,
}

/** Resolves when a transaction waits for a lock of another one. */
async function lockWait(): Promise<void> {
  for (;;) {
    const { rows } = await probe.query<{ isWaiting: boolean }>(
      `select exists (select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock') as "isWaiting"`,
    )
    if (rows[0]?.isWaiting) return
    await sleep(5)
  }
}

const countPages = () =>
  runAsAllAccounts(
    async () => (await store.db.selectFrom('galleryPages').selectAll().execute()).length,
  )

for (const [name, deletion] of Object.entries(deletions))
  test(
    `A deletion of a ${name} waits for a page that is being stored, and deletes it`,
    options,
    async () => {
      await runAsAllAccounts(() => deletePages(store))
      await other.query('begin')
      const deleted = await runAsAllAccounts(() =>
        store.runExclusive(async ({ tx }) => {
          assert.equal(await storePage(tx, page), true)
          const running = other.query(deletion)
          await lockWait()
          return { running }
        }),
      )
      await deleted.running
      await other.query('commit')
      assert.equal(await countPages(), 0)
      await restoreRows()
    },
  )

test('A page waits for a deletion that has begun, and is then not stored', options, async () => {
  await runAsAllAccounts(() => deletePages(store))
  await other.query('begin')
  await other.query('delete from faces')
  const stored = runAsAllAccounts(() => store.write((tx) => storePage(tx, page)))
  await lockWait()
  await other.query('commit')
  assert.equal(await stored, false)
  assert.equal(await countPages(), 0)
})

/** Adds the rows again that a test has deleted. */
async function restoreRows(): Promise<void> {
  await runAsAllAccounts(async () => {
    const { galleryId } = page
    const now = new Date().toISOString()
    const [project] = await store.db.selectFrom('projects').select('projectId').execute()
    const times = { createdAtUtc: now, updatedAtUtc: now, lastSeenAtUtc: now, expiresAtUtc: null }
    const names = {
      externalId: null,
      displayName: null,
      attributes: '{}',
      withoutFaces: 0,
    } as const
    const key = { keyId: page.keyId, wrappedKey: randomBytes(9) }
    const subject = { subjectId: 's', galleryId, projectId: project?.projectId ?? '' }
    await store.db.deleteFrom('subjects').execute()
    await store.db
      .insertInto('subjects')
      .values({ ...subject, ...names, ...key, ...times })
      .execute()
    const face = { faceId: 'f', subjectId: 's', galleryId, sequence: 1, qualityScore: 1 }
    await store.db
      .insertInto('faces')
      .values({ ...face, createdAtUtc: now })
      .execute()
    const template = { faceId: 'f', galleryId, modelId: 'm', ciphertext: randomBytes(9) }
    await store.db.insertInto('templates').values(template).execute()
  })
}
