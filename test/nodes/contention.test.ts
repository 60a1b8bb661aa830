import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { Client } from 'pg'
import { createMigratedDatabase } from '../support/database/engine.ts'
import {
  assertLedgerAudit,
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

/** A gate on a database in which things can be made to go wrong. */
async function startGateOn(
  url: string,
  environment: Record<string, string> = {},
): Promise<TestGate> {
  return startGate({ environment: { ...environment, DATABASE_URL: url } })
}

test(
  'three hundred calls at once on two connections are served or told to come again',
  {
    skip,
  },
  async () => {
    await using database = await createMigratedDatabase()
    await using gate = await startGateOn(database.url, { DATABASE_CONNECTIONS_MAX: '2' })
    const answers = await Promise.all(
      Array.from({ length: 300 }, (_, at) => gate.post(echoRequest(`call ${at % 50}`))),
    )
    const statuses = new Set(answers.map(({ status }) => status))
    assert.ok(
      [...statuses].every((status) => status === 200 || status === 503),
      [...statuses].join(),
    )
    const ok = answers.filter(({ body }) => body.ok).length
    assert.ok(ok > 0)
    assert.equal(
      [...gate.runCounts.values()].reduce((sum, runs) => sum + runs, 0),
      ok,
    )
    await assertLedgerAudit(gate)
  },
)

/** Makes so many beginnings of attempts fail; the sequence counts on although each is taken back. */
const failing = (times: number, state: string) => `
  create sequence failures;
  create function fail() returns trigger language plpgsql as $$ begin
    if nextval('failures') <= ${times} then
      raise exception 'planted' using errcode = '${state}';
    end if;
    return new;
  end $$;
  create trigger fail before insert on attempts for each row execute function fail()`

for (const state of ['40001', '40P01'])
  test(
    `a transaction that the database gave up with ${state} is tried again, and nobody notices`,
    {
      skip,
    },
    async () => {
      await using database = await createMigratedDatabase()
      await using gate = await startGateOn(database.url)
      await runSql(database.url, failing(2, state))
      const { status, body } = await gate.post(echoRequest('in the end'))
      assert.equal(status, 200)
      assert.equal(body.ok, true)
      assert.equal(gate.runCounts.get('in the end'), 1)
      await assertLedgerAudit(gate)
    },
  )

test(
  'what fails again and again is tried again three times, and then the answer is 503',
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
    // The one statement that most calls are claimed by, then the transaction, and that three times more.
    assert.equal(rows[0].tries, 5)
    assert.equal(gate.runCounts.size, 0)
    await assertLedgerAudit(gate)
  },
)

test('the victim of a deadlock is tried again, and nobody notices', { skip }, async () => {
  await using database = await createMigratedDatabase()
  await using gate = await startGateOn(database.url)
  assert.equal((await gate.post(echoRequest('before'))).body.ok, true)
  const { adminUrl } = await sharedPostgresServer()
  const rivalUrl = new URL(adminUrl)
  rivalUrl.pathname = new URL(database.url).pathname
  const rival = new Client({ connectionString: rivalUrl.href })
  await rival.connect()
  // The rival is patient: of the two, the gate is the one that gives way.
  await rival.query("set deadlock_timeout = '60s'")
  await rival.query('begin')
  await rival.query('update ledgers set "headSeq" = "headSeq"')
  const calling = gate.post(echoRequest('rivalled'))
  await waitForLockWaiter(rival)
  await rival.query('update buckets set "fullAtUs" = "fullAtUs"')
  await rival.query('commit')
  const { status, body } = await calling
  assert.equal(status, 200, JSON.stringify(body))
  assert.equal(body.ok, true)
  assert.equal(gate.runCounts.get('rivalled'), 1)
  await waitForDeadlock(rival)
  await rival.end()
  await assertLedgerAudit(gate)
})

async function waitForLockWaiter(client: Client): Promise<void> {
  for (;;) {
    const { rowCount } = await client.query(
      "select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
    )
    if (rowCount) return
  }
}

/** That there was one at all; the server counts a moment later. */
async function waitForDeadlock(client: Client): Promise<void> {
  for (const toMs = performance.now() + 20_000; performance.now() < toMs; await sleep(200)) {
    const { rows } = await client.query(
      'select deadlocks::int as count from pg_stat_database where datname = current_database()',
    )
    if (rows[0].count > 0) return
  }
  assert.fail('there was no deadlock')
}
