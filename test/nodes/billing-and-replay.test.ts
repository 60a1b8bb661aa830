import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { pauseBeforeRetry, type TestClient } from '../support/facegate/test-client.ts'
import {
  assertLedgerAudit,
  budgetMicros,
  echoRequest,
  callLogRows,
  setBudget,
} from '../support/gate/test-gate.ts'
import { sharedGateNodes } from '../support/nodes/test-nodes.ts'
import { postgresSkipReason } from '../support/database/postgres-server.ts'
import { closeSharedServices } from '../support/shared-service.ts'

const skip = postgresSkipReason ?? false
const rounds = Number(process.env['LAST_UNIT_ROUNDS'] ?? 2)
const duplicatePairs = Number(process.env['DUPLICATE_PAIRS'] ?? 150)
const unitMicros = 1000n
/** Enough for all calls of a test. */
const ampleMicros = 1_000_000_000n

after(closeSharedServices)

/** Makes a call and repeats it while the servers are too busy. @returns the result code. */
async function callForCode(client: TestClient): Promise<string> {
  const body = echoRequest('last unit', randomUUID())
  for (;;) {
    const response = await client.post(body)
    if (response.status === 200) return String(response.body.errors[0]?.code ?? 'OK')
    assert.equal(response.status, 503, JSON.stringify(response.body))
    await pauseBeforeRetry()
  }
}

test(
  `The last unit of a budget is charged once when 200 calls on two nodes compete for it (${rounds} rounds)`,
  {
    skip,
  },
  async () => {
    const nodes = await sharedGateNodes()
    const { a, b, local } = nodes
    const runsBefore = await nodes.runCount()
    for (let round = 0; round < rounds; round++) {
      await setBudget(local, unitMicros)
      const calls = Array.from({ length: 200 }, (_, index) => callForCode(index % 2 ? a : b))
      const codes = await Promise.all(calls)
      const count = (expected: string) => codes.filter((code) => code === expected).length
      assert.deepEqual([count('OK'), count('PAYMENT_REQUIRED')], [1, 199], codes.join(' '))
      assert.equal(await budgetMicros(local), 0n)
    }
    assert.equal((await nodes.runCount()) - runsBefore, rounds)
    await assertLedgerAudit(local)
  },
)

test(
  `A request sent to two nodes at once runs once, and both return its result (${duplicatePairs} pairs)`,
  {
    skip,
  },
  async () => {
    const nodes = await sharedGateNodes()
    const { a, b, local } = nodes
    const runsBefore = await nodes.runCount()
    await setBudget(local, ampleMicros)
    const before = await budgetMicros(local)
    const rowsBefore = (await callLogRows(local)).length
    const inFlight = 10
    for (let done = 0; done < duplicatePairs; done += inFlight)
      await Promise.all(
        Array.from({ length: Math.min(inFlight, duplicatePairs - done) }, async () => {
          const request = echoRequest('duplicate', randomUUID())
          const [first, second] = (await Promise.all([a.post(request), b.post(request)])).map(
            ({ body }) => body,
          )
          assert.ok(first.ok && second.ok, JSON.stringify([first, second]))
          assert.deepEqual(first.data, second.data)
          const replays = [first, second].filter(({ meta }) => meta?.idempotencyReplay)
          assert.equal(replays.length, 1)
        }),
      )
    assert.equal((await nodes.runCount()) - runsBefore, duplicatePairs)
    assert.equal(before - (await budgetMicros(local)), unitMicros * BigInt(duplicatePairs))
    const rows = (await callLogRows(local)).slice(0, -rowsBefore || undefined)
    assert.equal(rows.filter(({ transferId }) => transferId !== null).length, duplicatePairs)
    await assertLedgerAudit(local)
  },
)

test(
  'Two requests with one id and different content: the first runs, the second is a conflict',
  {
    skip,
  },
  async () => {
    const nodes = await sharedGateNodes()
    const { a, b, local } = nodes
    const runsBefore = await nodes.runCount()
    await setBudget(local, ampleMicros)
    for (let pair = 0; pair < 50; pair++) {
      const requestId = randomUUID()
      const responses = await Promise.all([
        a.post(echoRequest('one', requestId)),
        b.post(echoRequest('two', requestId)),
      ])
      const codes = responses.map(({ body }) => String(body.errors[0]?.code ?? 'OK'))
      assert.deepEqual(codes.toSorted(), ['OK', 'REQUEST_ID_CONFLICT'])
    }
    assert.equal((await nodes.runCount()) - runsBefore, 50)
    await assertLedgerAudit(local)
  },
)
