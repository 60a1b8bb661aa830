import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { openCuttingProxy, type Cut } from '../cutting-proxy.ts'
import { clientOf, type TestClient } from '../facegate.ts'
import { assertBooks, budgetMicros, echo, logRows } from '../gate.ts'
import { startGates } from '../nodes.ts'
import { postgresMissing } from '../postgres.ts'

const skip = postgresMissing ?? false
const replays = Number(process.env['CUT_REPLAYS'] ?? 1000)
const callers = 10
const cuts: readonly (Cut | undefined)[] = [
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
    await using nodes = await startGates()
    const { a, b, inside } = nodes
    const random = (): Cut | undefined => cuts[Math.floor(Math.random() * cuts.length)]
    await using lineA = await openCuttingProxy(a.url, random)
    await using lineB = await openCuttingProxy(b.url, random)
    const lines = [lineA, lineB].map(({ url }) => clientOf(url, inside.key))
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
          const body = line && (await attempt(line, echo(requestId, requestId)))
          if (!body) continue
          assert.equal(body.ok, true, JSON.stringify(body))
          told.push(body.data)
          assert.deepEqual(body.data, told[0])
        }
      }
    }
    await Promise.all(Array.from({ length: callers }, (_, caller) => call(caller)))
    assert.equal(before - (await budgetMicros(inside)), 1000n * BigInt(asked.length))
    const charged = (await logRows(inside)).filter(({ transferId }) => transferId !== null)
    assert.deepEqual(charged.map(({ requestId }) => requestId).toSorted(), asked.toSorted())
    await assertBooks(inside)
    t.diagnostic(
      `${asked.length} calls in ${tries} tries: ${JSON.stringify([lineA.cuts(), lineB.cuts()])}`,
    )
  },
)
