import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import {
  openDisconnectingProxy,
  type DisconnectPoint,
} from '../../support/network/disconnecting-proxy.ts'
import { createTestClient, type TestClient } from '../../support/facegate/test-facegate.ts'
import {
  assertLedgerAudit,
  budgetMicros,
  echoRequest,
  callLogRows,
  setBudget,
} from '../../support/gate/test-gate.ts'
import { sharedGateNodes } from '../../support/nodes/test-nodes.ts'
import { postgresSkipReason } from '../../support/database/postgres-server.ts'
import { closeSharedServices } from '../../support/shared-service.ts'

const skip = postgresSkipReason ?? false
const replays = Number(process.env['DISCONNECT_REPLAYS'] ?? 300)
const callers = 10
const disconnectPoints: readonly (DisconnectPoint | undefined)[] = [
  'beforeRequest',
  'duringRequest',
  'beforeResponse',
  'duringResponse',
  'afterResponse',
  undefined,
  undefined,
]

after(closeSharedServices)

/** Sends a request once. @returns undefined if the connection was closed or the status is 503. */
async function sendOnce(client: TestClient, request: object) {
  try {
    const { status, body } = await client.post(request)
    if (status === 200) return body
    assert.equal(status, 503)
    return undefined
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error
    return undefined
  }
}

test(
  `A call whose connection is closed at random is charged once, with retries on the other node (${replays} tries)`,
  {
    skip,
  },
  async (t) => {
    const { a, b, local } = await sharedGateNodes()
    await setBudget(local, 1_000_000_000n)
    const rowsBefore = (await callLogRows(local)).length
    const randomPoint = (): DisconnectPoint | undefined =>
      disconnectPoints[Math.floor(Math.random() * disconnectPoints.length)]
    await using proxyA = await openDisconnectingProxy(a.url, randomPoint)
    await using proxyB = await openDisconnectingProxy(b.url, randomPoint)
    const clients = [proxyA, proxyB].map(({ url }) => createTestClient(url, local.key))
    const before = await budgetMicros(local)
    const requestIds: string[] = []
    let tries = 0
    const runCaller = async (caller: number): Promise<void> => {
      for (let turn = caller; tries < replays; turn++) {
        const requestId = randomUUID()
        requestIds.push(requestId)
        // Each request is repeated until it has three responses, which must be equal.
        for (const responses: unknown[] = []; responses.length < 3; turn++) {
          tries++
          const client = clients[turn % clients.length]
          const body = client && (await sendOnce(client, echoRequest(requestId, requestId)))
          if (!body) continue
          assert.equal(body.ok, true, JSON.stringify(body))
          responses.push(body.data)
          assert.deepEqual(body.data, responses[0])
        }
      }
    }
    await Promise.all(Array.from({ length: callers }, (_, caller) => runCaller(caller)))
    assert.equal(before - (await budgetMicros(local)), 1000n * BigInt(requestIds.length))
    const rows = (await callLogRows(local)).slice(0, -rowsBefore || undefined)
    const charged = rows.filter(({ transferId }) => transferId !== null)
    assert.deepEqual(charged.map(({ requestId }) => requestId).toSorted(), requestIds.toSorted())
    await assertLedgerAudit(local)
    const counts = JSON.stringify([proxyA.disconnectCounts(), proxyB.disconnectCounts()])
    t.diagnostic(`${requestIds.length} calls in ${tries} tries: ${counts}`)
  },
)
