import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { runAsAllAccounts } from '../../src/lib/account-context.ts'
import type { Store } from '../../src/store/database.ts'
import { openStore } from '../../src/store/open-store.ts'
import { createMigratedDatabase } from '../support/database/engine.ts'
import {
  postgresSkipReason,
  sharedPostgresServer,
  type TestDatabase,
} from '../support/database/postgres-server.ts'
import { runMigration } from '../support/migration/run-migration.ts'
import { callsContract } from './contract/calls.ts'
import { galleryPagesContract } from './contract/gallery/gallery-pages.ts'
import { matchDaysContract } from './contract/gallery/match-days.ts'
import { matchVerdictsContract } from './contract/gallery/match-verdicts.ts'
import { nearMissesContract } from './contract/gallery/near-misses.ts'
import { renamedGroupsContract } from './contract/gallery/renamed-groups.ts'
import { galleriesContract } from './contract/galleries.ts'
import { ledgerContract } from './contract/ledger.ts'
import { frozenRowsContract } from './contract/gallery/frozen-rows.ts'
import { livenessContract } from './contract/liveness.ts'
import { uncalledQueries } from './contract/tracked-queries.ts'
import { rangeTemplatesContract } from './contract/range-templates.ts'
import { removedDataContract } from './contract/removed-data.ts'
import { secondFactorsContract } from './contract/second-factors.ts'
import { systemHistoryContract } from './contract/system-history.ts'
import { tenancyContract } from './contract/tenancy.ts'
import { keyChangesContract } from './contract/key-changes.ts'
import { keysAndDeletionsContract } from './contract/keys-and-deletions.ts'
import { visitorsContract } from './contract/gallery/visitors.ts'
import { webhooksContract } from './contract/webhooks.ts'
import { deliveriesContract } from './contract/webhooks/deliveries.ts'
import { createStoreFixture, type StoreFixture } from './contract/store-fixture.ts'

/** Tests of the behavior that both engines have in common, by their titles. */
const contract: Readonly<Record<string, (fixture: StoreFixture) => Promise<void>>> = {
  ...tenancyContract,
  ...galleriesContract,
  ...galleryPagesContract,
  ...matchDaysContract,
  ...matchVerdictsContract,
  ...nearMissesContract,
  ...renamedGroupsContract,
  ...visitorsContract,
  ...rangeTemplatesContract,
  ...removedDataContract,
  ...keysAndDeletionsContract,
  ...keyChangesContract,
  ...callsContract,
  ...ledgerContract,
  ...livenessContract,
  ...frozenRowsContract,
  ...webhooksContract,
  ...deliveriesContract,
  ...secondFactorsContract,
  ...systemHistoryContract,
}

async function onSqlite(work: (store: Store) => Promise<void>): Promise<void> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-store-'))
  await using opened = new AsyncDisposableStack()
  opened.defer(() => rm(dataDir, { recursive: true }))
  const store = await openStore(dataDir)
  opened.defer(() => store.close())
  await runAsAllAccounts(() => work(store))
}

async function onPostgres(work: (store: Store) => Promise<void>): Promise<void> {
  await using database = await createMigratedDatabase()
  const store = await openStore({ dataDir: '', databaseUrl: database.url })
  try {
    await runAsAllAccounts(() => work(store))
  } finally {
    await store.close()
  }
}

/** A database that was migrated from SQLite after the first start, and its fixture. */
type MigratedFixture = Omit<StoreFixture, 'store'> & { readonly database: TestDatabase }

let migrated: Promise<MigratedFixture> | undefined

/** The database is a template: each test runs on a copy. */
async function migrateFixture(): Promise<MigratedFixture> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-store-'))
  const source = await openStore(dataDir)
  const { store: _source, ...fixture } = await runAsAllAccounts(() => createStoreFixture(source))
  await source.close()
  const database = await (await sharedPostgresServer()).createDatabase()
  const { code, err } = await runMigration(dataDir, database.url)
  await rm(dataDir, { recursive: true })
  assert.equal(code, 0, err)
  return { ...fixture, database }
}

async function onMigrated(verify: (fixture: StoreFixture) => Promise<void>): Promise<void> {
  migrated ??= migrateFixture()
  const { database, ...fixture } = await migrated
  const server = await sharedPostgresServer()
  await using copy = await server.createDatabase({ template: database.name })
  const store = await openStore({ dataDir: '', databaseUrl: copy.url })
  try {
    await runAsAllAccounts(() => verify({ ...fixture, store }))
  } finally {
    await store.close()
  }
}

after(async () => (await migrated)?.database[Symbol.asyncDispose]())

for (const [title, verify] of Object.entries(contract)) {
  const run = async (store: Store) => verify(await createStoreFixture(store))
  test(`SQLite: ${title}`, () => onSqlite(run))
  const options = postgresSkipReason === undefined ? {} : { skip: postgresSkipReason }
  test(`PostgreSQL: ${title}`, options, () => onPostgres(run))
  test(`Migrated to PostgreSQL: ${title}`, options, () => onMigrated(verify))
}

test('The contract calls every query of the store', () => {
  assert.deepEqual(uncalledQueries(), [])
})
