import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openStore, type Store } from '../src/store/database.ts'
import { migratedDatabase } from './engine.ts'
import { postgresMissing } from './postgres.ts'
import { calls } from './store/calls.ts'
import { galleries } from './store/galleries.ts'
import { money } from './store/money.ts'
import { notAsked } from './store/queries.ts'
import { tenancy } from './store/tenancy.ts'
import { traces } from './store/traces.ts'
import { makeWorld, type World } from './store/world.ts'

/** What every engine must do, asked of each by the same tests. */
const contract: Readonly<Record<string, (world: World) => Promise<void>>> = {
  ...tenancy,
  ...galleries,
  ...traces,
  ...calls,
  ...money,
}

async function onSqlite(work: (store: Store) => Promise<void>): Promise<void> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-store-'))
  await using opened = new AsyncDisposableStack()
  opened.defer(() => rm(dataDir, { recursive: true }))
  const store = await openStore(dataDir)
  opened.defer(() => store.close())
  await work(store)
}

async function onPostgres(work: (store: Store) => Promise<void>): Promise<void> {
  await using database = await migratedDatabase()
  const store = await openStore({ dataDir: '', databaseUrl: database.url })
  try {
    await work(store)
  } finally {
    await store.close()
  }
}

for (const [promise, keep] of Object.entries(contract)) {
  test(`SQLite: ${promise}`, () => onSqlite(async (store) => keep(await makeWorld(store))))
  const options = postgresMissing === undefined ? {} : { skip: postgresMissing }
  test(`PostgreSQL: ${promise}`, options, () =>
    onPostgres(async (store) => keep(await makeWorld(store))),
  )
}

test('every query of the store was asked', () => {
  assert.deepEqual(notAsked(), [])
})
