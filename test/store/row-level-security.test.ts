import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Client } from 'pg'
import { runAsAccount, runAsAllAccounts } from '../../src/lib/account-context.ts'
import { type Store, sql } from '../../src/store/database.ts'
import { openStore } from '../../src/store/open-store.ts'
import { seedAccount } from '../support/database/account-rows.ts'
import {
  postgresSkipReason,
  sharedPostgresServer,
  type TestDatabase,
} from '../support/database/postgres-server.ts'

/**
 * Tests of row-level security with plain SQL. The store's queries contain the account themselves, so
 * they cannot show whether the database's policies work.
 */
const skipOptions = postgresSkipReason === undefined ? {} : { skip: postgresSkipReason }

let database: TestDatabase
let store: Store
let [ownAccountId, otherAccountId] = ['', '']
let otherProjectId = ''

before(async () => {
  if (postgresSkipReason !== undefined) return
  database = await (await sharedPostgresServer()).createDatabase()
  store = await openStore({ dataDir: '', databaseUrl: database.url })
  await runAsAllAccounts(async () => {
    ownAccountId = await seedAccount(store, 'own')
    otherAccountId = await seedAccount(store, 'other')
    const project = await store.db
      .selectFrom('projects')
      .select('projectId')
      .where('accountId', '=', otherAccountId)
      .executeTakeFirstOrThrow()
    otherProjectId = project.projectId
    await sql`insert into nodes values ('n', 'host', 1, '1', '', 0, 0, '', true)`.execute(store.db)
    await sql`insert into "appliedRemovals" select 'n', "galleryId", 1 from galleries`.execute(
      store.db,
    )
    await sql`insert into "accountMoves" ("moveId", direction, "accountId", "otherDatabase",
      "startedAtUtc") select "accountId", 'in', "accountId", 'other', '' from accounts`.execute(
      store.db,
    )
  })
})

after(async () => {
  await store?.close()
  await database?.[Symbol.asyncDispose]()
})

/** The tables with row-level security. */
const accountTables = (
  'accounts projects keys prices ledgers ledgerTransfers buckets attempts responseSubjects calls ' +
  'callHours scoreHours galleries galleryKeys galleryCalibrations subjects subjectGroups ' +
  'subjectAttributes distinctSubjects subjectMerges matchedSubjects matchVerdicts nearMissCrops matchDays faces ' +
  'templates galleryPages crops removals appliedRemovals deletions certificateKeys users sessions links auditLog chainHeads ' +
  'livenessSessions livenessFrames livenessChallenges webhooks webhookSecrets webhookDeliveries ' +
  'secondFactors recoveryCodes accountMoves'
).split(' ')

/** Tables without data of accounts: the swept time, the id of the master key, the servers and their history, the migrations. */
const sharedTables = [
  'watermarks',
  'masterKeys',
  'nodes',
  'systemServers',
  'systemSamples',
  'kysely_migration',
  'kysely_migration_lock',
]

test('Every table with data of accounts has row-level security', skipOptions, async () => {
  await withScope(undefined, async (client) => {
    const { rows } = await client.query<{ name: string; isGuarded: boolean }>(
      `select relname as name, relrowsecurity and relforcerowsecurity as "isGuarded" from pg_class
       where relkind in ('r', 'p') and not relispartition
         and relnamespace = current_schema()::regnamespace`,
    )
    const namesOf = (guarded: boolean): string[] =>
      rows
        .filter(({ isGuarded }) => isGuarded === guarded)
        .map(({ name }) => name)
        .toSorted()
    assert.deepEqual(namesOf(true), accountTables.toSorted())
    assert.deepEqual(namesOf(false), sharedTables.toSorted())
  })
})

test('Without an account in its scope, the database shows no rows', skipOptions, async () => {
  const none = new Map(accountTables.map((table) => [table, 0]))
  assert.deepEqual(await visibleRows(undefined), none)
  assert.deepEqual(await visibleRows(''), none)
  assert.deepEqual(await visibleRows('unknown'), none)
})

test('In the scope of an account, every table shows only its rows', skipOptions, async () => {
  const own = await visibleRows(ownAccountId)
  const other = await visibleRows(otherAccountId)
  const all = await visibleRows('*')
  for (const table of accountTables) {
    assert.ok((own.get(table) ?? 0) > 0, `${table} has rows of the account`)
    assert.equal(own.get(table), other.get(table), table)
    assert.equal(all.get(table), 2 * (own.get(table) ?? 0), table)
  }
})

test('Rows of another account cannot be changed, deleted or inserted', skipOptions, async () => {
  await withScope(ownAccountId, async (client) => {
    const updated = await client.query(`update projects set name = 'x' where "projectId" = $1`, [
      otherProjectId,
    ])
    assert.equal(updated.rowCount, 0)
    const deleted = await client.query(`delete from crops where "projectId" = $1`, [otherProjectId])
    assert.equal(deleted.rowCount, 0)
    await assert.rejects(
      client.query(`insert into "scoreHours" values ($1, 'liveness', 0, 2, 1, 1)`, [
        otherProjectId,
      ]),
      /row-level security/u,
    )
  })
})

test('A transaction without an account scope throws', skipOptions, async () => {
  const missingScope = /needs an account scope/u
  await assert.rejects(listAccountIds(), missingScope)
  await assert.rejects(
    store.read(() => undefined),
    missingScope,
  )
  await assert.rejects(
    store.write(() => undefined),
    missingScope,
  )
  await assert.rejects(
    store.runExclusive(async () => undefined),
    missingScope,
  )
  await assert.rejects(
    store.db.transaction().execute(async () => undefined),
    missingScope,
  )
})

test('A transaction sees and writes only rows of its account scope', skipOptions, async () => {
  assert.deepEqual(await runAsAccount(ownAccountId, listAccountIds), [ownAccountId])
  assert.equal((await runAsAllAccounts(listAccountIds)).length, 2)
  const counts = await Promise.all(
    [ownAccountId, otherAccountId].map((accountId) => runAsAccount(accountId, countProjects)),
  )
  assert.deepEqual(counts, [1, 1])
  await assert.rejects(
    runAsAccount(ownAccountId, () =>
      store.write((tx) =>
        tx.run(
          tx.build
            .insertInto('prices')
            .values({ accountId: otherAccountId, action: 'a', unitMicros: 0n }),
        ),
      ),
    ),
    /row-level security/u,
  )
})

async function listAccountIds(): Promise<string[]> {
  const rows = await store.db.selectFrom('accounts').select('accountId').execute()
  return rows.map(({ accountId }) => accountId)
}

function countProjects(): Promise<number> {
  return store.read(
    async ({ build, run }) => (await run(build.selectFrom('projects').selectAll())).length,
  )
}

/** Returns the number of visible rows of each table. */
async function visibleRows(scope: string | undefined): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  await withScope(scope, async (client) => {
    for (const table of accountTables) {
      const { rows } = await client.query<{ count: number }>(
        `select count(*)::integer as count from "${table}"`,
      )
      counts.set(table, rows[0]?.count ?? NaN)
    }
  })
  return counts
}

/** Runs SQL in a transaction with the scope that the store would set, and rolls it back. */
async function withScope(scope: string | undefined, work: (client: Client) => Promise<void>) {
  const client = new Client({ connectionString: database.url })
  await client.connect()
  try {
    await client.query('begin')
    if (scope !== undefined)
      await client.query(`select set_config('facegate.account', $1, true)`, [scope])
    await work(client)
  } finally {
    await client.end()
  }
}
