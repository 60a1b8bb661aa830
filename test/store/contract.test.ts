import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openStore, type Store } from '../../src/store/database.ts'
import { createMigratedDatabase } from '../support/database/engine.ts'
import { postgresSkipReason } from '../support/database/postgres-server.ts'
import { callsContract } from './contract/calls.ts'
import { galleriesContract } from './contract/galleries.ts'
import { ledgerContract } from './contract/ledger.ts'
import { uncalledQueries } from './contract/tracked-queries.ts'
import { tenancyContract } from './contract/tenancy.ts'
import { keysAndDeletionsContract } from './contract/keys-and-deletions.ts'
import { createStoreFixture, type StoreFixture } from './contract/store-fixture.ts'

/** What every engine must do, asked of each by the same tests. */
const contract: Readonly<Record<string, (world: StoreFixture) => Promise<void>>> = {
  ...tenancyContract,
  ...galleriesContract,
  ...keysAndDeletionsContract,
  ...callsContract,
  ...ledgerContract,
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
  await using database = await createMigratedDatabase()
  const store = await openStore({ dataDir: '', databaseUrl: database.url })
  try {
    await work(store)
  } finally {
    await store.close()
  }
}

for (const [promise, keep] of Object.entries(contract)) {
  test(`SQLite: ${promise}`, () => onSqlite(async (store) => keep(await createStoreFixture(store))))
  const options = postgresSkipReason === undefined ? {} : { skip: postgresSkipReason }
  test(`PostgreSQL: ${promise}`, options, () =>
    onPostgres(async (store) => keep(await createStoreFixture(store))),
  )
}

test('every query of the store was asked', () => {
  assert.deepEqual(uncalledQueries(), [])
})
