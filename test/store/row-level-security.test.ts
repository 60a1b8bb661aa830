import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Client } from 'pg'
import { runAsAccount } from '../../src/lib/account-context.ts'
import { openStore, type Store } from '../../src/store/database.ts'
import { seedAccount } from '../support/database/account-rows.ts'
import {
  postgresSkipReason,
  sharedPostgresServer,
  type TestDatabase,
} from '../support/database/postgres-server.ts'

/**
 * Row-level security, asked with the plainest SQL: the service's own queries all name the account, so
 * that they would show nothing of what the second lock does.
 */
const skipOptions = postgresSkipReason === undefined ? {} : { skip: postgresSkipReason }

let database: TestDatabase
let store: Store
let [mine, theirs] = ['', '']
let otherProjectId = ''

before(async () => {
  if (postgresSkipReason !== undefined) return
  database = await (await sharedPostgresServer()).createDatabase()
  store = await openStore({ dataDir: '', databaseUrl: database.url })
  mine = await seedAccount(store, 'mine')
  theirs = await seedAccount(store, 'theirs')
  const project = await store.db
    .selectFrom('projects')
    .select('projectId')
    .where('accountId', '=', theirs)
    .executeTakeFirstOrThrow()
  otherProjectId = project.projectId
})

after(async () => {
  await store?.close()
  await database?.[Symbol.asyncDispose]()
})

/** The tables that the database itself guards. */
const accountTables = (
  'accounts projects keys prices ledgers ledgerTransfers buckets attempts answerSubjects calls ' +
  'callHours scoreHours galleries galleryKeys subjects subjectGroups faces templates crops removals ' +
  'deletions users sessions links adminActs'
).split(' ')

/** What holds nothing of anybody: how far rows were swept, which servers there are, migrations. */
const sharedTables = ['marks', 'nodes', 'kysely_migration', 'kysely_migration_lock']

test('every table that holds something of an account is guarded', skipOptions, async () => {
  await withAccount(undefined, async (client) => {
    const { rows } = await client.query<{ name: string; isGuarded: boolean }>(
      `select relname as name, relrowsecurity and relforcerowsecurity as "isGuarded" from pg_class
       where relkind in ('r', 'p') and not relispartition
         and relnamespace = current_schema()::regnamespace`,
    )
    const names = (wanted: boolean): string[] =>
      rows
        .filter(({ isGuarded }) => isGuarded === wanted)
        .map(({ name }) => name)
        .toSorted()
    assert.deepEqual(names(true), accountTables.toSorted())
    assert.deepEqual(names(false), sharedTables.toSorted())
  })
})

test('who works for no account sees nothing', skipOptions, async () => {
  assert.deepEqual(await visibleRows(undefined), new Map(accountTables.map((table) => [table, 0])))
  assert.deepEqual(await visibleRows(''), new Map(accountTables.map((table) => [table, 0])))
  assert.deepEqual(await visibleRows('nobody'), new Map(accountTables.map((table) => [table, 0])))
})

test('who works for one account sees its rows alone, in every table', skipOptions, async () => {
  const [ofMine, ofTheirs, ofAll] = [
    await visibleRows(mine),
    await visibleRows(theirs),
    await visibleRows('*'),
  ]
  for (const table of accountTables) {
    assert.ok((ofMine.get(table) ?? 0) > 0, `${table} has rows of mine`)
    assert.equal(ofMine.get(table), ofTheirs.get(table), table)
    assert.equal(ofAll.get(table), 2 * (ofMine.get(table) ?? 0), table)
  }
})

test('nobody changes, deletes or makes rows of another account', skipOptions, async () => {
  await withAccount(mine, async (client) => {
    const changed = await client.query(`update projects set name = 'x' where "projectId" = $1`, [
      otherProjectId,
    ])
    assert.equal(changed.rowCount, 0)
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

test('the store works for the account that the code around it works for', skipOptions, async () => {
  const accountIds = (account: string | undefined): Promise<string[]> => {
    const ask = async () =>
      (await store.db.selectFrom('accounts').select('accountId').execute()).map((r) => r.accountId)
    return account === undefined ? ask() : runAsAccount(account, ask)
  }
  assert.deepEqual(await accountIds(mine), [mine])
  assert.equal((await accountIds(undefined)).length, 2)
  const projects = { ofMine: mine, ofTheirs: theirs }
  const counts = await Promise.all(
    Object.values(projects).map((account) =>
      runAsAccount(account, () =>
        store.read(
          async ({ build, run }) => (await run(build.selectFrom('projects').selectAll())).length,
        ),
      ),
    ),
  )
  assert.deepEqual(counts, [1, 1])
  await assert.rejects(
    runAsAccount(mine, () =>
      store.write((tx) =>
        tx.run(
          tx.build.insertInto('prices').values({ accountId: theirs, action: 'a', unitMicros: 0n }),
        ),
      ),
    ),
    /row-level security/u,
  )
})

/** How many rows of each table there are to see. */
async function visibleRows(account: string | undefined): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  await withAccount(account, async (client) => {
    for (const table of accountTables) {
      const { rows } = await client.query<{ count: number }>(
        `select count(*)::integer as count from "${table}"`,
      )
      counts.set(table, rows[0]?.count ?? NaN)
    }
  })
  return counts
}

/** Asks as the service does, in a transaction that is taken back. */
async function withAccount(account: string | undefined, ask: (client: Client) => Promise<void>) {
  const client = new Client({ connectionString: database.url })
  await client.connect()
  try {
    await client.query('begin')
    if (account !== undefined)
      await client.query(`select set_config('facegate.account', $1, true)`, [account])
    await ask(client)
  } finally {
    await client.end()
  }
}
