import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { TestClient } from '../support/facegate/test-facegate.ts'
import {
  assertLedgerAudit,
  budgetMicros,
  echoRequest,
  callLogRows,
  setBudget,
} from '../support/gate/test-gate.ts'
import { startGateNodes } from '../support/nodes/test-nodes.ts'
import { postgresSkipReason } from '../support/database/postgres-server.ts'

const skip = postgresSkipReason ?? false
const rounds = Number(process.env['LAST_UNIT_ROUNDS'] ?? 5)
const duplicatePairs = Number(process.env['DUPLICATE_PAIRS'] ?? 500)
const unitMicros = 1000n

/** One call, sent again for as long as the servers are too busy. @returns the code of its answer. */
async function callForCode(client: TestClient): Promise<string> {
  const body = echoRequest('last unit', randomUUID())
  for (;;) {
    const answer = await client.post(body)
    if (answer.status === 200) return String(answer.body.errors[0]?.code ?? 'OK')
    assert.equal(answer.status, 503, JSON.stringify(answer.body))
  }
}

test(
  `the last unit of a budget, asked for 200 times at once of two nodes, is spent once (${rounds} rounds)`,
  {
    skip,
  },
  async () => {
    await using nodes = await startGateNodes()
    const { a, b, local: inside } = nodes
    for (let round = 0; round < rounds; round++) {
      await setBudget(inside, unitMicros)
      const calls = Array.from({ length: 200 }, (_, at) => callForCode(at % 2 ? a : b))
      const codes = await Promise.all(calls)
      const count = (code: string) => codes.filter((one) => one === code).length
      assert.deepEqual([count('OK'), count('PAYMENT_REQUIRED')], [1, 199], codes.join(' '))
      assert.equal(await budgetMicros(inside), 0n)
    }
    assert.equal(await nodes.runCount(), rounds)
    await assertLedgerAudit(inside)
  },
)

test(
  `of twins that come to two nodes at once, one is executed and both get its answer (${duplicatePairs} pairs)`,
  {
    skip,
  },
  async () => {
    await using nodes = await startGateNodes()
    const { a, b, local: inside } = nodes
    const before = await budgetMicros(inside)
    const inFlight = 10
    for (let done = 0; done < duplicatePairs; done += inFlight)
      await Promise.all(
        Array.from({ length: Math.min(inFlight, duplicatePairs - done) }, async () => {
          const body = echoRequest('twin', randomUUID())
          const [one, other] = (await Promise.all([a.post(body), b.post(body)])).map(
            (answer) => answer.body,
          )
          assert.ok(one.ok && other.ok, JSON.stringify([one, other]))
          assert.deepEqual(one.data, other.data)
          const replays = [one, other].filter(({ meta }) => meta?.idempotencyReplay)
          assert.equal(replays.length, 1)
        }),
      )
    assert.equal(await nodes.runCount(), duplicatePairs)
    assert.equal(before - (await budgetMicros(inside)), unitMicros * BigInt(duplicatePairs))
    const rows = await callLogRows(inside)
    assert.equal(rows.filter(({ transferId }) => transferId !== null).length, duplicatePairs)
    await assertLedgerAudit(inside)
  },
)

test(
  'twins with other content: the one that came first is executed, the other is a conflict',
  {
    skip,
  },
  async () => {
    await using nodes = await startGateNodes()
    const { a, b, local: inside } = nodes
    for (let pair = 0; pair < 50; pair++) {
      const requestId = randomUUID()
      const answers = await Promise.all([
        a.post(echoRequest('one', requestId)),
        b.post(echoRequest('two', requestId)),
      ])
      assert.deepEqual(answers.map(({ body }) => String(body.errors[0]?.code ?? 'OK')).toSorted(), [
        'OK',
        'REQUEST_ID_CONFLICT',
      ])
    }
    assert.equal(await nodes.runCount(), 50)
    await assertLedgerAudit(inside)
  },
)
