import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { findSubjects } from '../../src/store/gallery/subjects.ts'
import { Kysely, Migrator } from '../../src/store/kysely.ts'
import { openStore } from '../../src/store/open-store.ts'
import { openSqlite, sqliteDialect } from '../../src/store/sqlite/connection.ts'
import { migrations } from '../../src/store/sqlite/migrations/all.ts'

const count = 2500

test('The migration stores the search text of every existing subject', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-migration-'))
  const connection = openSqlite(path.join(dataDir, 'facegate.db'))
  const db = new Kysely<unknown>({ dialect: sqliteDialect(connection) })
  const earlier = Object.entries(migrations).filter(([name]) => name < '0011')
  const provider = { getMigrations: () => Promise.resolve(Object.fromEntries(earlier)) }
  const { error } = await new Migrator({ db, provider }).migrateToLatest()
  assert.equal(error, undefined)
  connection.exec(`
    insert into accounts (accountId, name, createdAtUtc) values ('a', 'a', '2026');
    insert into projects (projectId, accountId, name, galleryMode, createdAtUtc)
      values ('p', 'a', 'p', 'isolated', '2026');
    insert into galleries values ('p', 'a', 0, ${count}, 0);
    insert into galleryKeys values ('k', 'p', 'm', x'00', 1);
    with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})
    insert into subjects select 's' || i, 'p', 'p', 'É-' || i, 'Zoë "' || i || '"', '{}', 'k',
      x'01', '2026-' || i, '2026', null, '2026' from n;
    insert into subjects values ('none', 'p', 'p', null, null, '{}', 'k', x'01', '2027', '2026',
      null, '2026');
  `)
  await db.destroy()

  const store = await openStore(dataDir)
  const find = async (text: string) => {
    const filter = { galleryId: 'p', text, limit: count }
    return (await store.read((tx) => findSubjects(tx, filter))).map(({ subjectId }) => subjectId)
  }
  assert.equal((await find('zoe "')).length, count)
  assert.deepEqual(await find('e-2499'), ['s2499'])
  await store.close()
  await rm(dataDir, { recursive: true })
})
