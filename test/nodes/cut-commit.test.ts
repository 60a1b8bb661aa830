import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { openDatabaseProxy, type CommitCut } from '../database-proxy.ts'
import { migratedDatabase } from '../engine.ts'
import type { TestClient } from '../facegate.ts'
import { assertBooks, budgetMicros, echo, logRows } from '../gate.ts'
import { startGates } from '../nodes.ts'
import { postgresMissing } from '../postgres.ts'

const skip = postgresMissing ?? false
const cutsWanted = Number(process.env['COMMIT_CUTS'] ?? 20)
const kinds: readonly CommitCut[] = ['before', 'amid', 'after']

/** Asks until there is an answer. @returns it, and how often it was 503 before. */
async function insist(client: TestClient, body: object) {
  for (let refusals = 0; ; refusals++) {
    const answer = await client.post(body)
    if (answer.status === 200) return { body: answer.body, refusals }
    assert.equal(answer.status, 503, JSON.stringify(answer.body))
    await sleep(50)
  }
}

test(
  `a line to the database cut at the commit never bills twice, and the retry reads what holds (${cutsWanted} cuts)`,
  {
    skip,
  },
  async (t) => {
    await using database = await migratedDatabase()
    let isArmed = false
    const plan = { left: cutsWanted }
    // Now the claim's commit, now the settlement's, by each kind in turn.
    const cutFor = (commit: number): CommitCut | undefined =>
      isArmed && plan.left > 0 && commit % 3 === 0 ? kinds[plan.left-- % kinds.length] : undefined
    await using line = await openDatabaseProxy(database.url, cutFor)
    await using nodes = await startGates({
      databaseUrl: database.url,
      environment: { ATTEMPT_MS_MAX: '1000', TWIN_WAIT_MS_MAX: '500' },
      of: (node): Record<string, string> => (node === 1 ? { DATABASE_URL: line.url } : {}),
    })
    const { a, inside } = nodes
    const before = await budgetMicros(inside)
    isArmed = true
    let [calls, refused] = [0, 0]
    while (plan.left > 0) {
      const asked = Array.from({ length: 4 }, () => randomUUID())
      await Promise.all(
        asked.map(async (requestId) => {
          const first = await insist(a, echo(requestId, requestId))
          assert.equal(first.body.ok, true, JSON.stringify(first.body))
          refused += first.refusals
          // Whoever asks again is told the same, as a replay.
          const again = await insist(a, echo(requestId, requestId))
          assert.deepEqual(again.body.data, first.body.data)
          assert.deepEqual(again.body.meta, { idempotencyReplay: true })
          calls++
        }),
      )
    }
    const cuts = line.cuts()
    assert.equal(cuts.before + cuts.amid + cuts.after, cutsWanted)
    t.diagnostic(`${calls} calls, ${JSON.stringify(cuts)}, ${refused} answers were 503`)
    assert.equal(before - (await budgetMicros(inside)), 1000n * BigInt(calls))
    const rows = await logRows(inside)
    const charged = rows.filter(({ transferId }) => transferId !== null)
    assert.equal(new Set(charged.map(({ requestId }) => requestId)).size, calls)
    assert.equal(charged.length, calls)
    await inside.books.gate.sweep()
    await assertBooks(inside)
  },
)

test(
  'a database that is away for a while, or slow, is answered 503 and never unmetered',
  {
    skip,
  },
  async () => {
    await using database = await migratedDatabase()
    await using line = await openDatabaseProxy(database.url)
    await using nodes = await startGates({
      databaseUrl: database.url,
      environment: { ATTEMPT_MS_MAX: '1000' },
      of: () => ({ DATABASE_URL: line.url }),
    })
    const { a, b, inside } = nodes
    const both = [a, b]
    line.slow(100)
    for (const node of both) assert.equal((await node.post(echo('slow'))).body.ok, true)
    line.slow(0)
    line.sever()
    const ranBefore = await nodes.runCount()
    const endMs = performance.now() + Number(process.env['OUTAGE_MS'] ?? 3000)
    while (performance.now() < endMs) {
      const answers = await Promise.all(both.map((node) => node.post(echo('away'))))
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([503]))
      assert.ok(answers.every(({ headers }) => Number(headers.get('retry-after')) >= 1))
    }
    assert.equal(await nodes.runCount(), ranBefore, 'nothing ran while nothing could be billed')
    line.mend()
    const backMs = performance.now()
    for (const node of both) {
      const { body } = await insist(node, echo('back', randomUUID()))
      assert.equal(body.ok, true)
    }
    assert.ok(performance.now() - backMs < 5000)
    await sleep(1100)
    await inside.books.gate.sweep()
    await assertBooks(inside)
  },
)
