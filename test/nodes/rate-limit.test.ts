import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { createMigratedDatabase } from '../support/database/engine.ts'
import type { TestClient } from '../support/facegate/test-facegate.ts'
import { assertLedgerAudit, echoRequest } from '../support/gate/test-gate.ts'
import { shiftedClock, startGateNodes } from '../support/nodes/test-nodes.ts'
import { postgresSkipReason, runSql } from '../support/database/postgres-server.ts'

const skip = postgresSkipReason ?? false
const seconds = Number(process.env['RATE_SECONDS'] ?? 5)
const hourMs = 3_600_000

const isAdmitted = async (client: TestClient): Promise<boolean> => {
  const { status, body } = await client.post(echoRequest('limit'))
  assert.equal(status, 200, JSON.stringify(body))
  const code: unknown = body.errors[0]?.code ?? 'OK'
  assert.ok(code === 'OK' || code === 'RATE_LIMITED', String(code))
  return code === 'OK'
}

test(
  `two nodes fill one bucket: ten times too much for ${seconds} s admits what one node would`,
  {
    skip,
  },
  async (t) => {
    const [perS, burst] = [10, 20]
    await using nodes = await startGateNodes({
      environment: { RATE_SUSTAINED_PER_S: String(perS), RATE_BURST: String(burst) },
    })
    const endMs = performance.now() + seconds * 1000
    const sentMs: number[] = []
    const answeredMs: number[] = []
    let admitted = 0
    // Each asks again as soon as it is answered: that is far more than ten times the rate.
    const ask = async (client: TestClient): Promise<void> => {
      while (performance.now() < endMs) {
        sentMs.push(performance.now())
        if (await isAdmitted(client)) admitted++
        answeredMs.push(performance.now())
      }
    }
    const { a, b, local: inside } = nodes
    await Promise.all(Array.from({ length: 16 }, (_, at) => ask(at % 2 ? a : b)))
    // A bucket decides between the call's departure and its answer.
    const first = { from: Math.min(...sentMs), to: Math.min(...answeredMs) }
    const last = { from: Math.max(...sentMs), to: Math.max(...answeredMs) }
    const most = burst + (perS * (last.to - first.from)) / 1000
    const least = 0.98 * (burst + (perS * (last.from - first.to)) / 1000)
    const seen = `${admitted} of ${sentMs.length} admitted, ${least.toFixed(1)} to ${most.toFixed(1)} may be`
    t.diagnostic(seen)
    assert.ok(admitted <= most && admitted >= Math.floor(least), seen)
    await assertLedgerAudit(inside)
  },
)

const admittedOf = async (client: TestClient, calls: number): Promise<number> =>
  (await Promise.all(Array.from({ length: calls }, () => isAdmitted(client)))).filter(Boolean)
    .length

for (const shiftMs of [hourMs, -hourMs])
  test(
    `a node whose clock is ${shiftMs / hourMs} h off gives no free burst and locks nobody out`,
    {
      skip,
    },
    async () => {
      const [perS, burst] = [2, 8]
      await using nodes = await startGateNodes({
        environment: { RATE_SUSTAINED_PER_S: String(perS), RATE_BURST: String(burst) },
        nodeEnvironment: (node) => (node === 2 ? shiftedClock(shiftMs) : {}),
      })
      const { a, b } = nodes
      const startMs = performance.now()
      const dripped = () => ((performance.now() - startMs) / 1000) * perS
      let admitted = 0
      for (const node of [a, b, a, b]) admitted += await admittedOf(node, 10)
      assert.ok(admitted >= burst && admitted <= burst + dripped(), `${admitted} of 40`)
      // Half a second is a token: whoever waits a second is served, on either node.
      for (const node of [b, a, b, a]) {
        await sleep(1000)
        assert.equal(await isAdmitted(node), true)
      }
    },
  )

test(
  'a step of the clock of the database gives no free burst and locks nobody out',
  {
    skip,
  },
  async () => {
    const [perS, burst] = [2, 8]
    await using database = await createMigratedDatabase()
    await runSql(database.url, fakeClock)
    await using nodes = await startGateNodes({
      databaseUrl: database.url,
      environment: { RATE_SUSTAINED_PER_S: String(perS), RATE_BURST: String(burst) },
    })
    let { a, b } = nodes
    const startMs = performance.now()
    const dripped = () => ((performance.now() - startMs) / 1000) * perS
    let admitted = 0
    for (const step of ['1 hour', '-1 hour', '0']) {
      admitted += (await admittedOf(a, 10)) + (await admittedOf(b, 10))
      await runSql(database.url, `update fake.shift set by = '${step}'`)
      // Whoever starts after the step goes on where the others are.
      const fresh = await nodes.start(3)
      admitted += (await admittedOf(a, 10)) + (await admittedOf(fresh, 10))
      assert.ok(admitted >= burst && admitted <= burst + dripped(), `${admitted} were admitted`)
      ;[a, b] = [b, fresh]
    }
    for (const node of [a, b]) {
      await sleep(1000)
      assert.equal(await isAdmitted(node), true)
    }
  },
)

/**
 * A clock that can be set, where the functions of time are looked up before PostgreSQL's own. What
 * is no function, `current_timestamp`, cannot be replaced; the store does not decide by it.
 */
const fakeClock = `
  create schema fake;
  create table fake.shift (by interval not null);
  insert into fake.shift values ('0');
  create function fake.clock_timestamp() returns timestamptz language sql volatile
    as 'select pg_catalog.clock_timestamp() + by from fake.shift';
  create function fake.now() returns timestamptz language sql stable
    as 'select pg_catalog.now() + by from fake.shift';
  create function fake.statement_timestamp() returns timestamptz language sql stable
    as 'select pg_catalog.statement_timestamp() + by from fake.shift';
  do $$ begin
    execute format('alter database %I set search_path = fake, pg_catalog, public', current_database());
  end $$`
