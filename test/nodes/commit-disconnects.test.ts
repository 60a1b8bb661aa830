import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { openDatabaseProxy, type CommitDisconnectPoint } from '../support/network/database-proxy.ts'
import { createMigratedDatabase } from '../support/database/engine.ts'
import type { TestClient } from '../support/facegate/test-facegate.ts'
import {
  assertLedgerAudit,
  budgetMicros,
  echoRequest,
  callLogRows,
} from '../support/gate/test-gate.ts'
import { startGateNodes } from '../support/nodes/test-nodes.ts'
import { postgresSkipReason } from '../support/database/postgres-server.ts'

const skip = postgresSkipReason ?? false
const disconnectTarget = Number(process.env['COMMIT_DISCONNECTS'] ?? 20)
const disconnectPoints: readonly CommitDisconnectPoint[] = ['before', 'amid', 'after']

/** Asks until there is an answer. @returns it, and how often it was 503 before. */
async function callUntilAnswered(client: TestClient, body: object) {
  for (let refusals = 0; ; refusals++) {
    const answer = await client.post(body)
    if (answer.status === 200) return { body: answer.body, refusals }
    assert.equal(answer.status, 503, JSON.stringify(answer.body))
    await sleep(50)
  }
}

test(
  `a line to the database cut at the commit never bills twice, and the retry reads what holds (${disconnectTarget} cuts)`,
  {
    skip,
  },
  async (t) => {
    await using database = await createMigratedDatabase()
    let isArmed = false
    const plan = { left: disconnectTarget }
    // Now the claim's commit, now the settlement's, by each kind in turn.
    const cutFor = (commit: number): CommitDisconnectPoint | undefined =>
      isArmed && plan.left > 0 && commit % 3 === 0
        ? disconnectPoints[plan.left-- % disconnectPoints.length]
        : undefined
    await using line = await openDatabaseProxy(database.url, cutFor)
    await using nodes = await startGateNodes({
      databaseUrl: database.url,
      environment: { CALL_TIMEOUT_MS: '1000', IN_FLIGHT_WAIT_MS_MAX: '500' },
      nodeEnvironment: (node): Record<string, string> =>
        node === 1 ? { DATABASE_URL: line.url } : {},
    })
    const { a, local: inside } = nodes
    const before = await budgetMicros(inside)
    isArmed = true
    let [calls, refused] = [0, 0]
    while (plan.left > 0) {
      const asked = Array.from({ length: 4 }, () => randomUUID())
      await Promise.all(
        asked.map(async (requestId) => {
          const first = await callUntilAnswered(a, echoRequest(requestId, requestId))
          assert.equal(first.body.ok, true, JSON.stringify(first.body))
          refused += first.refusals
          // Whoever asks again is told the same, as a replay.
          const again = await callUntilAnswered(a, echoRequest(requestId, requestId))
          assert.deepEqual(again.body.data, first.body.data)
          assert.deepEqual(again.body.meta, { idempotencyReplay: true })
          calls++
        }),
      )
    }
    const cuts = line.disconnectCounts()
    assert.equal(cuts.before + cuts.amid + cuts.after, disconnectTarget)
    t.diagnostic(`${calls} calls, ${JSON.stringify(cuts)}, ${refused} answers were 503`)
    assert.equal(before - (await budgetMicros(inside)), 1000n * BigInt(calls))
    const rows = await callLogRows(inside)
    const charged = rows.filter(({ transferId }) => transferId !== null)
    assert.equal(new Set(charged.map(({ requestId }) => requestId)).size, calls)
    assert.equal(charged.length, calls)
    await inside.database.gate.sweep()
    await assertLedgerAudit(inside)
  },
)

test(
  'a database that is away for a while, or slow, is answered 503 and never unmetered',
  {
    skip,
  },
  async () => {
    await using database = await createMigratedDatabase()
    await using line = await openDatabaseProxy(database.url)
    await using nodes = await startGateNodes({
      databaseUrl: database.url,
      environment: { CALL_TIMEOUT_MS: '1000' },
      nodeEnvironment: () => ({ DATABASE_URL: line.url }),
    })
    const { a, b, local: inside } = nodes
    const both = [a, b]
    line.setDelay(100)
    for (const node of both) assert.equal((await node.post(echoRequest('slow'))).body.ok, true)
    line.setDelay(0)
    line.disconnect()
    const ranBefore = await nodes.runCount()
    const endMs = performance.now() + Number(process.env['OUTAGE_MS'] ?? 3000)
    while (performance.now() < endMs) {
      const answers = await Promise.all(both.map((node) => node.post(echoRequest('away'))))
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([503]))
      assert.ok(answers.every(({ headers }) => Number(headers.get('retry-after')) >= 1))
    }
    assert.equal(await nodes.runCount(), ranBefore, 'nothing ran while nothing could be billed')
    line.reconnect()
    const backMs = performance.now()
    for (const node of both) {
      const { body } = await callUntilAnswered(node, echoRequest('back', randomUUID()))
      assert.equal(body.ok, true)
    }
    assert.ok(performance.now() - backMs < 5000)
    await sleep(1100)
    await inside.database.gate.sweep()
    await assertLedgerAudit(inside)
  },
)
