import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { Kysely, Migrator } from '../../src/store/kysely.ts'
import { openStore } from '../../src/store/open-store.ts'
import { findFaceChanges } from '../../src/store/gallery/faces.ts'
import { tenancy } from '../../src/store/sqlite/migrations/0001-tenancy.ts'
import { money } from '../../src/store/sqlite/migrations/0002-money.ts'
import { calls } from '../../src/store/sqlite/migrations/0003-calls.ts'
import { galleries } from '../../src/store/sqlite/migrations/0004-galleries.ts'
import { threshold } from '../../src/store/sqlite/migrations/0005-threshold.ts'
import { openSqlite, sqliteDialect } from '../../src/store/sqlite/connection.ts'

test('The migration creates a face for each template and keeps the template unchanged', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-migration-'))
  const connection = openSqlite(path.join(dataDir, 'facegate.db'))
  const db = new Kysely<unknown>({ dialect: sqliteDialect(connection) })
  const earlierMigrations = {
    '0001-tenancy': tenancy,
    '0002-money': money,
    '0003-calls': calls,
    '0004-galleries': galleries,
    '0005-threshold': threshold,
  }
  const provider = { getMigrations: () => Promise.resolve(earlierMigrations) }
  const { error } = await new Migrator({ db, provider }).migrateToLatest()
  assert.equal(error, undefined)
  connection.exec(`
    insert into accounts (accountId, name, createdAtUtc) values ('a', 'a', '2026-01-01');
    insert into projects (projectId, accountId, name, galleryMode, createdAtUtc)
      values ('p', 'a', 'p', 'isolated', '2026-01-01');
    insert into galleries values ('p', 'a', 7, 1, 2);
    insert into galleryKeys values ('k', 'p', 'm', x'00', 1);
    insert into subjects values ('s', 'p', 'p', null, null, '{}', 'k', x'01',
      '2026-01-01', '2026-01-01', null, '2026-01-01');
    insert into templates values ('f1', 's', 'p', 3, 'old@1', x'0a0b', 81, '2026-01-01'),
      ('f2', 's', 'p', 7, 'old@1', x'0c', 82, '2026-01-02');
  `)
  await db.destroy()

  const store = await openStore(dataDir)
  const changes = await store.read((tx) =>
    findFaceChanges(tx, 'p', { sequence: 0, faceId: '' }, 10),
  )
  assert.deepEqual(
    changes.map(({ sequence, faceId, face }) => [
      sequence,
      faceId,
      face?.templates.map(({ modelId, sealed }) => [modelId, Buffer.from(sealed).toString('hex')]),
    ]),
    [
      [3, 'f1', [['old@1', '0a0b']]],
      [7, 'f2', [['old@1', '0c']]],
    ],
  )
  const faces = await store.db.selectFrom('faces').selectAll().orderBy('faceId').execute()
  assert.deepEqual(
    faces.map(({ qualityScore, createdAtUtc }) => [qualityScore, createdAtUtc]),
    [
      [81, '2026-01-01'],
      [82, '2026-01-02'],
    ],
  )
  const subjects = await store.db.selectFrom('subjects').select('needsNewKey').execute()
  const marks = subjects.map(({ needsNewKey }) => needsNewKey)
  assert.deepEqual(marks, [1], 'earlier versions did not record removals')
  await store.close()
  await rm(dataDir, { recursive: true })
})
