import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { Client } from 'pg'
import { createMigratedDatabase } from '../support/database/engine.ts'
import {
  assertLedgerAudit,
  callLogRows,
  echoRequest,
  startGate,
  type TestGate,
} from '../support/gate/test-gate.ts'
import {
  postgresSkipReason,
  sharedPostgresServer,
  runSql,
} from '../support/database/postgres-server.ts'

const skip = postgresSkipReason ?? false

/** Starts a gate on a database of the test, in which the test can cause errors. */
async function startGateOn(
  url: string,
  environment: Record<string, string> = {},
): Promise<TestGate> {
  return startGate({ environment: { ...environment, DATABASE_URL: url } })
}

test(
  'Three hundred simultaneous calls on two connections succeed or fail with 503',
  {
    skip,
  },
  async () => {
    await using database = await createMigratedDatabase()
    await using gate = await startGateOn(database.url, { DATABASE_CONNECTIONS_MAX: '2' })
    const responses = await Promise.all(
      Array.from({ length: 300 }, (_, index) => gate.post(echoRequest(`call ${index % 50}`))),
    )
    const statuses = new Set(responses.map(({ status }) => status))
    assert.ok(
      [...statuses].every((status) => status === 200 || status === 503),
      [...statuses].join(),
    )
    const ok = responses.filter(({ body }) => body.ok).length
    assert.ok(ok > 0)
    // A call that finds no connection for its settlement has run, and expires.
    const { db } = gate.database.store
    await db.updateTable('attempts').set({ deadlineMs: 0 }).where('state', '=', 'running').execute()
    await gate.database.gate.sweep()
    const codes = (await callLogRows(gate)).map(({ code }) => code)
    const count = (expected: string) => codes.filter((code) => code === expected).length
    assert.equal(count('OK'), ok)
    const runs = [...gate.runCounts.values()].reduce((sum, each) => sum + each, 0)
    assert.ok(runs >= ok && runs <= ok + count('EXPIRED'), `${runs} ran, ${ok} succeeded`)
    await assertLedgerAudit(gate)
  },
)

/** SQL that makes the first inserts of attempts fail. A rollback does not reset the sequence. */
const failing = (times: number, state: string) => `
  create sequence failures;
  create function fail() returns trigger language plpgsql as $$ begin
    if nextval('failures') <= ${times} then
      raise exception 'caused by the test' using errcode = '${state}';
    end if;
    return new;
  end $$;
  create trigger fail before insert on attempts for each row execute function fail()`

for (const state of ['40001', '40P01'])
  test(
    `A transaction that fails with ${state} is retried, and the call succeeds`,
    {
      skip,
    },
    async () => {
      await using database = await createMigratedDatabase()
      await using gate = await startGateOn(database.url)
      await runSql(database.url, failing(2, state))
      const { status, body } = await gate.post(echoRequest('retried'))
      assert.equal(status, 200)
      assert.equal(body.ok, true)
      assert.equal(gate.runCounts.get('retried'), 1)
      await assertLedgerAudit(gate)
    },
  )

test(
  'A transaction that always fails is retried three times, and then the call fails with 503',
  {
    skip,
  },
  async () => {
    await using database = await createMigratedDatabase()
    await using gate = await startGateOn(database.url)
    await runSql(database.url, failing(1_000_000, '40001'))
    const { status, headers } = await gate.post(echoRequest('never'))
    assert.equal(status, 503)
    assert.ok(Number(headers.get('retry-after')) >= 1)
    const client = new Client({ connectionString: database.url })
    await client.connect()
    const { rows } = await client.query('select last_value::int as tries from failures')
    await client.end()
    // One try with the single statement for admission, one with the transaction, and three retries.
    assert.equal(rows[0].tries, 5)
    assert.equal(gate.runCounts.size, 0)
    await assertLedgerAudit(gate)
  },
)

test('The victim of a deadlock is retried, and the call succeeds', { skip }, async () => {
  await using database = await createMigratedDatabase()
  await using gate = await startGateOn(database.url)
  assert.equal((await gate.post(echoRequest('before'))).body.ok, true)
  const { adminUrl } = await sharedPostgresServer()
  const rivalUrl = new URL(adminUrl)
  rivalUrl.pathname = new URL(database.url).pathname
  const rival = new Client({ connectionString: rivalUrl.href })
  await rival.connect()
  // The rival detects deadlocks later than the gate, so the gate's transaction is the victim.
  await rival.query("set deadlock_timeout = '60s'")
  await rival.query('begin')
  await rival.query('update ledgers set "headSeq" = "headSeq"')
  const deadlocking = rival.query(updateBucketsOnceAnotherWaits)
  const { status, body } = await gate.post(echoRequest('deadlock'))
  await deadlocking
  assert.equal(status, 200, JSON.stringify(body))
  assert.equal(body.ok, true)
  assert.equal(gate.runCounts.get('deadlock'), 1)
  await waitForDeadlock(rival)
  await rival.end()
  await assertLedgerAudit(gate)
})

/** Runs in the server, because the deadlock must exist within a second of the wait. */
const updateBucketsOnceAnotherWaits = `
  do $$ begin
    while not exists (select from pg_stat_activity
      where wait_event_type = 'Lock' and datname = current_database()) loop
      perform pg_sleep(0.01);
      perform pg_stat_clear_snapshot();
    end loop;
    update buckets set "fullAtUs" = "fullAtUs";
  end $$;
  commit`

/** Waits until the server's statistics, which are delayed, contain a deadlock. */
async function waitForDeadlock(client: Client): Promise<void> {
  for (const endMs = performance.now() + 60_000; performance.now() < endMs; await sleep(200)) {
    const { rows } = await client.query(
      'select deadlocks::int as count from pg_stat_database where datname = current_database()',
    )
    if (rows[0].count > 0) return
  }
  assert.fail('there was no deadlock')
}
