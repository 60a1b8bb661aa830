import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Client } from 'pg'
import { inAccount } from '../src/lib/account.ts'
import { openStore, type Store } from '../src/store/database.ts'
import { addAccount } from './account-rows.ts'
import { postgresMissing, sharedServer, type TestDatabase } from './postgres.ts'

/**
 * Row-level security, asked with the plainest SQL: the service's own queries all name the account, so
 * that they would show nothing of what the second lock does.
 */
const options = postgresMissing === undefined ? {} : { skip: postgresMissing }

let database: TestDatabase
let store: Store
let [mine, theirs] = ['', '']
let theirProject = ''

before(async () => {
  if (postgresMissing !== undefined) return
  database = await (await sharedServer()).freshDatabase()
  store = await openStore({ dataDir: '', databaseUrl: database.url })
  mine = await addAccount(store, 'mine')
  theirs = await addAccount(store, 'theirs')
  const project = await store.db
    .selectFrom('projects')
    .select('projectId')
    .where('accountId', '=', theirs)
    .executeTakeFirstOrThrow()
  theirProject = project.projectId
})

after(async () => {
  await store?.close()
  await database?.[Symbol.asyncDispose]()
})

/** The tables that the database itself guards. */
const guarded = (
  'accounts projects keys prices ledgers ledgerTransfers buckets attempts answerSubjects calls ' +
  'callHours scoreHours galleries galleryKeys subjects subjectGroups faces templates crops removals ' +
  'deletions users sessions links adminActs'
).split(' ')

/** What holds nothing of anybody: how far rows were swept, which servers there are, migrations. */
const shared = ['marks', 'nodes', 'kysely_migration', 'kysely_migration_lock']

test('every table that holds something of an account is guarded', options, async () => {
  await asking(undefined, async (client) => {
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
    assert.deepEqual(names(true), guarded.toSorted())
    assert.deepEqual(names(false), shared.toSorted())
  })
})

test('who works for no account sees nothing', options, async () => {
  assert.deepEqual(await seen(undefined), new Map(guarded.map((table) => [table, 0])))
  assert.deepEqual(await seen(''), new Map(guarded.map((table) => [table, 0])))
  assert.deepEqual(await seen('nobody'), new Map(guarded.map((table) => [table, 0])))
})

test('who works for one account sees its rows alone, in every table', options, async () => {
  const [ofMine, ofTheirs, ofAll] = [await seen(mine), await seen(theirs), await seen('*')]
  for (const table of guarded) {
    assert.ok((ofMine.get(table) ?? 0) > 0, `${table} has rows of mine`)
    assert.equal(ofMine.get(table), ofTheirs.get(table), table)
    assert.equal(ofAll.get(table), 2 * (ofMine.get(table) ?? 0), table)
  }
})

test('nobody changes, deletes or makes rows of another account', options, async () => {
  await asking(mine, async (client) => {
    const changed = await client.query(`update projects set name = 'x' where "projectId" = $1`, [
      theirProject,
    ])
    assert.equal(changed.rowCount, 0)
    const deleted = await client.query(`delete from crops where "projectId" = $1`, [theirProject])
    assert.equal(deleted.rowCount, 0)
    await assert.rejects(
      client.query(`insert into "scoreHours" values ($1, 'liveness', 0, 2, 1, 1)`, [theirProject]),
      /row-level security/u,
    )
  })
})

test('the store works for the account that the code around it works for', options, async () => {
  const accountIds = (account: string | undefined): Promise<string[]> => {
    const ask = async () =>
      (await store.db.selectFrom('accounts').select('accountId').execute()).map((r) => r.accountId)
    return account === undefined ? ask() : inAccount(account, ask)
  }
  assert.deepEqual(await accountIds(mine), [mine])
  assert.equal((await accountIds(undefined)).length, 2)
  const projects = { ofMine: mine, ofTheirs: theirs }
  const counts = await Promise.all(
    Object.values(projects).map((account) =>
      inAccount(account, () =>
        store.read(
          async ({ build, run }) => (await run(build.selectFrom('projects').selectAll())).length,
        ),
      ),
    ),
  )
  assert.deepEqual(counts, [1, 1])
  await assert.rejects(
    inAccount(mine, () =>
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
async function seen(account: string | undefined): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  await asking(account, async (client) => {
    for (const table of guarded) {
      const { rows } = await client.query<{ count: number }>(
        `select count(*)::integer as count from "${table}"`,
      )
      counts.set(table, rows[0]?.count ?? NaN)
    }
  })
  return counts
}

/** Asks as the service does, in a transaction that is taken back. */
async function asking(account: string | undefined, ask: (client: Client) => Promise<void>) {
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
