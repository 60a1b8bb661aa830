import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { after, before, describe, test } from 'node:test'
import { createMigratedDatabase } from '../support/database/engine.ts'
import { createTestClient, type TestClient } from '../support/facegate/test-facegate.ts'
import { addProject, assertLedgerAudit, echoRequest } from '../support/gate/test-gate.ts'
import { shiftedClock, startGateNodes, type GateNodes } from '../support/nodes/test-nodes.ts'
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

/** The bucket decides about a call between its request and its response. */
type TimedCall = {
  readonly sentMs: number
  readonly receivedMs: number
  readonly isAdmitted: boolean
}

type Limits = { readonly perS: number; readonly burst: number }

/**
 * Returns the rejected calls for which the bucket must have had a token. It is empty only if more calls
 * were admitted since some time than a bucket that was full at that time has had tokens. Each such
 * time is that of an admitted call. A machine that stalls lets a bucket fill, and changes no result.
 */
function findWrongRejections(calls: readonly TimedCall[], { perS, burst }: Limits): TimedCall[] {
  const admitted = calls.filter(({ isAdmitted }) => isAdmitted)
  return calls.filter((rejected) => {
    if (rejected.isAdmitted) return false
    const earlier = admitted.filter(({ sentMs }) => sentMs <= rejected.receivedMs)
    return !earlier.some(({ sentMs, receivedMs }) => {
      const taken = earlier.filter((other) => other.receivedMs >= sentMs).length
      const addedMin = (Math.max(0, rejected.sentMs - receivedMs) / 1000) * perS
      return taken > burst - 1 + addedMin
    })
  })
}

test(
  `Two nodes share a bucket: a load above ten times the limit for ${seconds} s is limited as on one node`,
  {
    skip,
  },
  async (t) => {
    const [perS, burst] = [10, 20]
    await using nodes = await startGateNodes({
      environment: { RATE_SUSTAINED_PER_S: String(perS), RATE_BURST: String(burst) },
    })
    const endMs = performance.now() + seconds * 1000
    const calls: TimedCall[] = []
    // Sixteen clients with this pause send more than ten times the rate.
    const sendCalls = async (client: TestClient): Promise<void> => {
      while (performance.now() < endMs) {
        const sentMs = performance.now()
        const isInBudget = await isAdmitted(client)
        calls.push({ sentMs, receivedMs: performance.now(), isAdmitted: isInBudget })
        await sleep(50)
      }
    }
    const { a, b, local } = nodes
    await Promise.all(Array.from({ length: 16 }, (_, index) => sendCalls(index % 2 ? a : b)))
    const fromMs = Math.min(...calls.map(({ sentMs }) => sentMs))
    const toMs = Math.max(...calls.map(({ receivedMs }) => receivedMs))
    const max = burst + (perS * (toMs - fromMs)) / 1000
    const admitted = calls.filter((call) => call.isAdmitted).length
    const result = `${admitted} of ${calls.length} admitted, at most ${max.toFixed(1)}`
    t.diagnostic(result)
    assert.ok(admitted >= burst && admitted <= max, result)
    assert.deepEqual(findWrongRejections(calls, { perS, burst }), [])
    await assertLedgerAudit(local)
  },
)

const countAdmitted = async (client: TestClient, calls: number): Promise<number> =>
  (await Promise.all(Array.from({ length: calls }, () => isAdmitted(client)))).filter(Boolean)
    .length

describe('Nodes with shifted clocks', { skip }, () => {
  const [perS, burst] = [2, 8]
  let nodes: GateNodes
  before(async () => {
    nodes = await startGateNodes({
      environment: { RATE_SUSTAINED_PER_S: String(perS), RATE_BURST: String(burst) },
      nodeEnvironment: (node) => (node === 1 ? {} : shiftedClock(node === 2 ? hourMs : -hourMs)),
    })
  })
  after(() => nodes?.[Symbol.asyncDispose]())

  for (const shiftMs of [hourMs, -hourMs])
    test(`A node whose clock is shifted by ${shiftMs / hourMs} h grants no extra burst and rejects no permitted call`, async () => {
      const shifted = shiftMs > 0 ? nodes.b : await nodes.start(3)
      // Each project has a bucket.
      const { key } = await addProject(nodes.local, `shifted by ${shiftMs}`)
      const [a, b] = [nodes.a, shifted].map(({ url }) => createTestClient(url, key))
      assert.ok(a && b)
      const startMs = performance.now()
      const refilled = () => ((performance.now() - startMs) / 1000) * perS
      let admitted = 0
      for (const node of [a, b, a, b]) admitted += await countAdmitted(node, 10)
      assert.ok(admitted >= burst && admitted <= burst + refilled(), `${admitted} of 40`)
      // A token is added every half second: a call after one second is admitted on both nodes.
      for (const node of [b, a, b, a]) {
        await sleep(1000)
        assert.equal(await isAdmitted(node), true)
      }
    })
})

test(
  'Setting the database’s clock grants no extra burst and rejects no permitted call',
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
    const refilled = () => ((performance.now() - startMs) / 1000) * perS
    let admitted = 0
    for (const step of ['1 hour', '-1 hour', '0']) {
      admitted += (await countAdmitted(a, 10)) + (await countAdmitted(b, 10))
      await runSql(database.url, `update fake.shift set by = '${step}'`)
      // A node that starts now takes the shared clock from the others.
      const started = await nodes.start(3)
      admitted += (await countAdmitted(a, 10)) + (await countAdmitted(started, 10))
      assert.ok(admitted >= burst && admitted <= burst + refilled(), `${admitted} were admitted`)
      ;[a, b] = [b, started]
    }
    for (const node of [a, b]) {
      await sleep(1000)
      assert.equal(await isAdmitted(node), true)
    }
  },
)

/**
 * Functions that replace PostgreSQL's clock by one that can be set: their schema is first in the
 * search path. `current_timestamp` is no function and cannot be replaced; the store does not use it
 * for decisions.
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
