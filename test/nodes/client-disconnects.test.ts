import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import {
  openDisconnectingProxy,
  type DisconnectPoint,
} from '../support/network/disconnecting-proxy.ts'
import { createTestClient, type TestClient } from '../support/facegate/test-facegate.ts'
import {
  assertLedgerAudit,
  budgetMicros,
  echoRequest,
  callLogRows,
} from '../support/gate/test-gate.ts'
import { startGateNodes } from '../support/nodes/test-nodes.ts'
import { postgresSkipReason } from '../support/database/postgres-server.ts'

const skip = postgresSkipReason ?? false
const replays = Number(process.env['DISCONNECT_REPLAYS'] ?? 1000)
const callers = 10
const disconnectPoints: readonly (DisconnectPoint | undefined)[] = [
  'beforeRequest',
  'amidRequest',
  'beforeAnswer',
  'amidAnswer',
  'answered',
  undefined,
  undefined,
]

/** One try; undefined when the line was cut, or it was told to come again. */
async function attempt(client: TestClient, body: object) {
  try {
    const answer = await client.post(body)
    if (answer.status === 200) return answer.body
    assert.equal(answer.status, 503)
    return undefined
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error
    return undefined
  }
}

test(
  `callers whose lines are cut at random, and who go on at the other node, pay once (${replays} tries)`,
  {
    skip,
  },
  async (t) => {
    await using nodes = await startGateNodes()
    const { a, b, local: inside } = nodes
    const random = (): DisconnectPoint | undefined =>
      disconnectPoints[Math.floor(Math.random() * disconnectPoints.length)]
    await using lineA = await openDisconnectingProxy(a.url, random)
    await using lineB = await openDisconnectingProxy(b.url, random)
    const lines = [lineA, lineB].map(({ url }) => createTestClient(url, inside.key))
    const before = await budgetMicros(inside)
    const asked: string[] = []
    let tries = 0
    const call = async (caller: number): Promise<void> => {
      for (let turn = caller; tries < replays; turn++) {
        const requestId = randomUUID()
        asked.push(requestId)
        // Each goes on until it was told three times; whatever it is told is the same.
        for (const told: unknown[] = []; told.length < 3; turn++) {
          tries++
          const line = lines[turn % lines.length]
          const body = line && (await attempt(line, echoRequest(requestId, requestId)))
          if (!body) continue
          assert.equal(body.ok, true, JSON.stringify(body))
          told.push(body.data)
          assert.deepEqual(body.data, told[0])
        }
      }
    }
    await Promise.all(Array.from({ length: callers }, (_, caller) => call(caller)))
    assert.equal(before - (await budgetMicros(inside)), 1000n * BigInt(asked.length))
    const charged = (await callLogRows(inside)).filter(({ transferId }) => transferId !== null)
    assert.deepEqual(charged.map(({ requestId }) => requestId).toSorted(), asked.toSorted())
    await assertLedgerAudit(inside)
    t.diagnostic(
      `${asked.length} calls in ${tries} tries: ${JSON.stringify([lineA.disconnectCounts(), lineB.disconnectCounts()])}`,
    )
  },
)
