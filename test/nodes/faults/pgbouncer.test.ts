import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { Client } from 'pg'
import { sql } from '../../../src/store/database.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { createMigratedDatabase, openStoreAt } from '../../support/database/engine.ts'
import { pgbouncerSkipReason, startPgBouncer } from '../../support/database/pgbouncer.ts'
import { postgresSkipReason, sharedPostgresServer } from '../../support/database/postgres-server.ts'
import { repeatWhileBusy } from '../../support/facegate/test-client.ts'
import { imageParams, startGallery } from '../../support/gallery/test-gallery.ts'
import {
  assertLedgerAudit,
  budgetMicros,
  callLogRows,
  echoRequest,
  setBudget,
  startGate,
} from '../../support/gate/test-gate.ts'

const skip = postgresSkipReason ?? pgbouncerSkipReason ?? false

test('Two servers behind PgBouncer in transaction mode serve one gallery', { skip }, async () => {
  // The first server also creates the tables through PgBouncer.
  await using database = await (await sharedPostgresServer()).createDatabase()
  await using bouncer = await startPgBouncer(database.url, 'transaction')
  const root = await mkdtemp(path.join(tmpdir(), 'facegate-pgbouncer-'))
  await using opened = new AsyncDisposableStack()
  opened.defer(() => rm(root, { recursive: true, force: true }))
  const environment = { DATABASE_URL: bouncer.url, MASTER_KEY_FILE: path.join(root, 'master.key') }
  const a = opened.use(await startGallery({ dataDir: path.join(root, 'a'), environment }))
  const b = opened.use(
    await startGallery({ dataDir: path.join(root, 'b'), key: a.key, environment }),
  )
  assert.deepEqual(
    [a, b].map(({ database: { store } }) => store.isFirstServer),
    [true, false],
  )
  const matchOf = async (server: typeof a, name: string) =>
    (await server.value('svc.identify', imageParams(name))).bestMatch?.subjectId
  const names = Array.from({ length: 24 }, (_, index) => `Person ${index}`)
  const enrolled = await Promise.all(
    names.map(async (name, index) => {
      const server = index % 2 === 0 ? a : b
      return (await server.value('svc.enroll', imageParams(name))).subjectId
    }),
  )
  const found = await Promise.all(
    names.map((name, index) => matchOf(index % 2 === 0 ? b : a, name)),
  )
  assert.deepEqual(found, enrolled)
  await Promise.all(enrolled.map((subjectId) => a.value('svc.deleteSubject', { subjectId })))
  assert.deepEqual(
    await Promise.all(names.map((name) => matchOf(b, name))),
    Array(24).fill(undefined),
  )
})

test(
  'Servers behind PgBouncer in transaction mode bill every call once and never exceed the budget',
  { skip },
  async () => {
    await using database = await createMigratedDatabase()
    await using bouncer = await startPgBouncer(database.url, 'transaction')
    const environment = { DATABASE_URL: bouncer.url, UNIT_PRICE_MICROS: '1' }
    await using a = await startGate({ environment })
    await using b = await startGate({ key: a.key, environment })
    await setBudget(a, 60n)
    const requestIds = Array.from({ length: 50 }, () => randomUUID())
    // Both servers receive each call. It runs on one of them and is replayed by the other.
    const send = (requestId: string, { post }: typeof a) =>
      repeatWhileBusy(() => post(echoRequest(requestId, requestId)))
    const responses = await Promise.all(
      requestIds.flatMap((requestId) => [send(requestId, a), send(requestId, b)]),
    )
    for (const { status, body } of responses) assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual(new Set(responses.map(({ body }) => body.ok)), new Set([true]))
    assert.equal(await budgetMicros(a), 10n)
    const billed = (await callLogRows(a)).filter(({ transferId }) => transferId !== null)
    assert.deepEqual(billed.map(({ requestId }) => requestId).toSorted(), requestIds.toSorted())
    await assertLedgerAudit(a)
    await assertSessionsUnchanged(bouncer.url)
  },
)

/** Asserts that all sessions of PgBouncer's pool have no settings or statements of the service. */
async function assertSessionsUnchanged(url: string): Promise<void> {
  const clients = Array.from({ length: 4 }, () => new Client({ connectionString: url }))
  try {
    for (const client of clients) {
      await client.connect()
      await client.query('begin')
      const { rows } = await client.query(
        `select current_setting('statement_timeout') as timeout,
           coalesce(current_setting('facegate.account', true), '') as account,
           (select count(*)::int from pg_prepared_statements) as prepared`,
      )
      assert.deepEqual(rows, [{ timeout: '0', account: '', prepared: 0 }])
    }
    const [first] = clients
    const rows = (
      await first?.query(
        `select count(*)::int as locks from pg_locks where locktype = 'advisory'
         and pid = any (select pid from pg_stat_activity where datname = current_database())`,
      )
    )?.rows
    assert.deepEqual(rows, [{ locks: 0 }])
  } finally {
    await Promise.all(clients.map((client) => client.end()))
  }
}

test('A transaction behind PgBouncer keeps its statement timeout', { skip }, async () => {
  await using database = await createMigratedDatabase()
  await using bouncer = await startPgBouncer(database.url, 'transaction')
  const store = await openStoreAt(bouncer.url)
  await using _ = { [Symbol.asyncDispose]: store.close }
  await assert.rejects(sql`select pg_sleep(60)`.execute(store.db), /The database does not respond/u)
})

test('A server does not start behind PgBouncer in statement mode', { skip }, async () => {
  await using database = await createMigratedDatabase()
  await using bouncer = await startPgBouncer(database.url, 'statement')
  await assert.rejects(
    openStore({ dataDir: '', databaseUrl: bouncer.url }, { isServer: true }),
    /the pooler of DATABASE_URL permits no transactions: set its pool_mode to transaction/u,
  )
})

for (const mode of ['transaction', 'session'] as const)
  test(
    `A server with SEARCH=pgvector does not start behind PgBouncer in ${mode} mode`,
    { skip },
    async () => {
      await using database = await createMigratedDatabase()
      await using bouncer = await startPgBouncer(database.url, mode)
      await assert.rejects(
        startGallery({ environment: { DATABASE_URL: bouncer.url, SEARCH: 'pgvector' } }),
        /SEARCH=pgvector needs a session .* let DATABASE_URL name PostgreSQL itself/u,
      )
    },
  )
