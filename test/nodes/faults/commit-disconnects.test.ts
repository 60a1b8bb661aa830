import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import {
  openDatabaseProxy,
  type CommitDisconnectPoint,
} from '../../support/network/database-proxy.ts'
import { createMigratedDatabase } from '../../support/database/engine.ts'
import type { TestClient } from '../../support/facegate/test-facegate.ts'
import {
  assertLedgerAudit,
  budgetMicros,
  echoRequest,
  callLogRows,
} from '../../support/gate/test-gate.ts'
import { startGateNodes } from '../../support/nodes/test-nodes.ts'
import { postgresSkipReason } from '../../support/database/postgres-server.ts'

const skip = postgresSkipReason ?? false
const disconnectTarget = Number(process.env['COMMIT_DISCONNECTS'] ?? 10)
const disconnectPoints: readonly CommitDisconnectPoint[] = ['before', 'during', 'after']

/** Sends a request until it succeeds. @returns its body and the number of 503 responses before. */
async function callUntilSuccess(client: TestClient, request: object) {
  for (let refusals = 0; ; refusals++) {
    const { status, body } = await client.post(request)
    if (status === 200) return { body, refusals }
    assert.equal(status, 503, JSON.stringify(body))
    await sleep(50)
  }
}

test(
  `A connection to the database that closes at a commit never causes a second charge, and a retry returns the committed result (${disconnectTarget} disconnects)`,
  {
    skip,
  },
  async (t) => {
    await using database = await createMigratedDatabase()
    let isArmed = false
    const plan = { left: disconnectTarget }
    // Alternates between commits of admissions and of settlements, and between all points.
    const disconnectAt = (commit: number): CommitDisconnectPoint | undefined =>
      isArmed && plan.left > 0 && commit % 3 === 0
        ? disconnectPoints[plan.left-- % disconnectPoints.length]
        : undefined
    await using proxy = await openDatabaseProxy(database.url, disconnectAt)
    await using nodes = await startGateNodes({
      databaseUrl: database.url,
      environment: { CALL_TIMEOUT_MS: '1000', IN_FLIGHT_WAIT_MS_MAX: '500' },
      nodeEnvironment: (node): Record<string, string> =>
        node === 1 ? { DATABASE_URL: proxy.url } : {},
    })
    const { a, local } = nodes
    const before = await budgetMicros(local)
    isArmed = true
    let [calls, refused] = [0, 0]
    while (plan.left > 0) {
      const requestIds = Array.from({ length: 4 }, () => randomUUID())
      await Promise.all(
        requestIds.map(async (requestId) => {
          const first = await callUntilSuccess(a, echoRequest(requestId, requestId))
          assert.equal(first.body.ok, true, JSON.stringify(first.body))
          refused += first.refusals
          // A retry returns the same result as a replay.
          const retry = await callUntilSuccess(a, echoRequest(requestId, requestId))
          assert.deepEqual(retry.body.data, first.body.data)
          assert.deepEqual(retry.body.meta, { idempotencyReplay: true })
          calls++
        }),
      )
    }
    const counts = proxy.disconnectCounts()
    assert.equal(counts.before + counts.during + counts.after, disconnectTarget)
    t.diagnostic(`${calls} calls, ${JSON.stringify(counts)}, ${refused} responses were 503`)
    assert.equal(before - (await budgetMicros(local)), 1000n * BigInt(calls))
    const rows = await callLogRows(local)
    const charged = rows.filter(({ transferId }) => transferId !== null)
    assert.equal(new Set(charged.map(({ requestId }) => requestId)).size, calls)
    assert.equal(charged.length, calls)
    await local.database.gate.sweep()
    await assertLedgerAudit(local)
  },
)

test(
  'Calls fail with 503 while the database is unavailable, and no call runs without a charge',
  {
    skip,
  },
  async () => {
    await using database = await createMigratedDatabase()
    await using proxy = await openDatabaseProxy(database.url)
    await using nodes = await startGateNodes({
      databaseUrl: database.url,
      nodeEnvironment: () => ({ DATABASE_URL: proxy.url }),
    })
    const { a, b, local } = nodes
    const both = [a, b]
    proxy.setDelay(100)
    for (const node of both) assert.equal((await node.post(echoRequest('slow'))).body.ok, true)
    proxy.setDelay(0)
    proxy.disconnect()
    const runsBefore = await nodes.runCount()
    const endMs = performance.now() + Number(process.env['OUTAGE_MS'] ?? 3000)
    while (performance.now() < endMs) {
      const responses = await Promise.all(both.map((node) => node.post(echoRequest('outage'))))
      assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([503]))
      assert.ok(responses.every(({ headers }) => Number(headers.get('retry-after')) >= 1))
    }
    assert.equal(await nodes.runCount(), runsBefore, 'no action ran during the outage')
    proxy.reconnect()
    for (const node of both) {
      const { body } = await callUntilSuccess(node, echoRequest('after', randomUUID()))
      assert.equal(body.ok, true)
    }
    // The calls that the outage interrupted expire.
    const { db } = local.database.store
    await db.updateTable('attempts').set({ deadlineMs: 0 }).where('state', '=', 'running').execute()
    await local.database.gate.sweep()
    await assertLedgerAudit(local)
  },
)
