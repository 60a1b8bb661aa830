import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import { openStore, type Store } from '../src/store/database.ts'
import { migratedDatabase } from './engine.ts'
import { images, startGallery } from './gallery.ts'
import { postgresMissing } from './postgres.ts'

/** What a later version leaves behind: a migration that this one does not know, and what it added. */
async function upgrade(store: Store): Promise<void> {
  const at = new Date().toISOString()
  await sql`insert into kysely_migration (name, timestamp) values ('9999-later', ${at})`.execute(
    store.db,
  )
  await sql`create table "laterTable" (id text primary key)`.execute(store.db)
  await sql`alter table subjects add column "laterColumn" text`.execute(store.db)
  await sql`alter table attempts add column "laterColumn" integer not null default 7`.execute(
    store.db,
  )
}

test(
  'on PostgreSQL an old server goes on working when a later version migrates, and starts there too',
  { skip: postgresMissing ?? false },
  async () => {
    await using database = await migratedDatabase()
    const environment = { DATABASE_URL: database.url }
    const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-upgrade-'))
    let key: string
    {
      await using old = await startGallery({ environment, dataDir })
      key = old.key
      await old.value('svc.enroll', images('Ann'))
      await upgrade(old.books.store)
      await old.value('svc.enroll', images('Ben'))
      assert.equal((await old.value('svc.identify', images('Ann'))).matched, true)
    }
    await using again = await startGallery({ environment, dataDir, key })
    for (const name of ['Ann', 'Ben'])
      assert.equal((await again.value('svc.identify', images(name))).matched, true)
    const { subjectId } = await again.value('svc.enroll', images('Cid'))
    await again.value('svc.deleteSubject', { subjectId })
    await again[Symbol.asyncDispose]()
    await rm(dataDir, { recursive: true })
  },
)

test('on SQLite an old server keeps away from what a later version has migrated', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-upgrade-'))
  const store = await openStore(dataDir)
  await upgrade(store)
  await store.close()
  await assert.rejects(openStore(dataDir), /a later version has migrated .*facegate\.db/u)
  await rm(dataDir, { recursive: true })
})
