import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { forkGate } from '../support/gate/fork-gate.ts'
import { isOnPostgres } from '../support/database/engine.ts'
import { createTestClient, type TestClient } from '../support/facegate/test-facegate.ts'
import {
  assertLedgerAudit,
  echoRequest,
  callLogRows,
  startGate,
} from '../support/gate/test-gate.ts'

let dataDir: string
before(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-crash-'))
})
after(() => rm(dataDir, { recursive: true, force: true }))

const rounds = Number(process.env['GATE_CRASH_ROUNDS'] ?? (isOnPostgres() ? 5 : 20))
const clients = 100

/**
 * A folder's next server knows that nobody is at work on what is left running. In a database others
 * may be: there it waits until the attempt's time is over.
 */
const crashSettings: Record<string, string> = isOnPostgres() ? { CALL_TIMEOUT_MS: '2000' } : {}

test(`${rounds} times killed amid ${clients} calls: each ends with one answer and one bill`, async () => {
  await using opened = new AsyncDisposableStack()
  let gate = opened.use(await forkGate(dataDir, crashSettings))
  const { key } = gate
  const asked: string[] = []
  let answered = 0
  for (let round = 0; round < rounds; round++) {
    const requestIds = Array.from({ length: clients }, () => randomUUID())
    asked.push(...requestIds)
    // The moment of death wanders over the whole of a round.
    const deathMs = (1 + ((round * 37) % 90)) * (isOnPostgres() ? 10 : 1)
    const death = setTimeout(() => gate.process.kill('SIGKILL'), deathMs)
    const first = await Promise.all(requestIds.map((requestId) => attempt(gate, requestId)))
    clearTimeout(death)
    answered += first.filter(Boolean).length
    gate.process.kill('SIGKILL')
    await gate.exited
    gate = opened.use(await forkGate(dataDir, { ...crashSettings, KEY: key }))
    const retried = await Promise.all(
      requestIds.map((requestId) => callUntilAnswered(gate, requestId)),
    )
    for (const [at, answer] of retried.entries()) {
      assert.equal(answer.ok, true, JSON.stringify(answer))
      // Who was answered before the crash is answered the same after it, by replay.
      if (!first[at]) continue
      assert.deepEqual(answer.data, first[at].data)
      assert.deepEqual(answer.meta, { idempotencyReplay: true })
    }
  }
  assert.ok(answered > 0 && answered < asked.length, `${answered} were answered before a crash`)
  gate.process.kill('SIGKILL')
  await gate.exited
  await using books = await startGate({ dataDir, key })
  await assertLedgerAudit(books)
  const billed = (await callLogRows(books)).filter((row) => row.transferId !== null)
  assert.deepEqual(billed.map((row) => row.requestId).toSorted(), asked.toSorted())
})

/** One call; undefined when the connection broke, or it was told to come again. */
async function attempt(gate: TestClient, requestId: string) {
  try {
    const { status, body } = await gate.post(echoRequest(requestId, requestId, { waitMs: 5 }))
    return status === 200 ? body : undefined
  } catch {
    return undefined
  }
}

/** Asks for as long as it is told to come again. */
async function callUntilAnswered(gate: TestClient, requestId: string) {
  for (;;) {
    const { status, body } = await gate.post(echoRequest(requestId, requestId, { waitMs: 5 }))
    if (status === 200) return body
    assert.ok(isOnPostgres() && status === 503, JSON.stringify(body))
  }
}

const steps = ['read', 'admit', 'run', 'settle', 'respond', 'commit', 'committed'] as const

/** Where most calls are one statement there is no step at a commit: nodes/cut-commit.test.ts cuts it. */
const reached = steps.filter((step) => !isOnPostgres() || !step.startsWith('commit'))

for (const step of reached)
  for (const commit of step.startsWith('commit')
    ? (['claim', 'settle'] as const)
    : (['any'] as const))
    test(`killed at ${step} (${commit}), a retry runs or replays, and is billed once`, async () => {
      const folder = await mkdtemp(path.join(tmpdir(), 'facegate-failpoint-'))
      const requestId = randomUUID()
      // The first group commit of a process is its own: the take-over.
      const own = step.startsWith('commit') ? (commit === 'claim' ? 1 : 2) : 0
      await using dying = await forkGate(folder, { ...crashSettings, FAIL_AT: `${step}:${own}` })
      const { key } = dying
      assert.equal(await attempt(dying, requestId), undefined)
      await dying.exited
      await using again = await startGate({ dataDir: folder, key, environment: crashSettings })
      const body = await callUntilAnswered(again, requestId)
      assert.equal(body.ok, true, JSON.stringify(body))
      const wasSettled = step === 'respond' || (step === 'committed' && commit === 'settle')
      assert.equal('meta' in body, wasSettled)
      const billed = (await callLogRows(again)).filter((row) => row.transferId !== null)
      assert.equal(billed.length, 1)
      await assertLedgerAudit(again)
      await rm(folder, { recursive: true, force: true })
    })

for (const step of reached)
  test(`a fault thrown at ${step} bills once at most, and leaves nothing reserved`, async () => {
    let isArmed = false
    const fail = (now: string): void => {
      if (!isArmed || now !== step) return
      isArmed = false
      throw new Error(`planted at ${step}`)
    }
    await using gate = await startGate({ beforeStep: fail, onCommit: fail })
    const requestId = randomUUID()
    isArmed = true
    const faulty = await gate.post(echoRequest('x', requestId))
    assert.ok(faulty.status >= 500, String(faulty.status))
    // A claim of which nobody knows that it was committed holds its budget until it expires.
    await gate.database.store.db
      .updateTable('attempts')
      .set({ deadlineMs: 0 })
      .where('state', '=', 'running')
      .execute()
    const { body } = await gate.post(echoRequest('x', requestId))
    assert.equal(body.ok, true, JSON.stringify(body))
    const billed = (await callLogRows(gate)).filter((row) => row.transferId !== null)
    assert.equal(billed.length, 1)
    await assertLedgerAudit(gate)
  })

for (const step of ['run', 'settle'] as const)
  test(`asleep at ${step} past its deadline, an attempt can never commit after its retry`, async () => {
    const slow = Promise.withResolvers<void>()
    let isFirst = true
    await using gate = await startGate({
      environment: { CALL_TIMEOUT_MS: '1000', IN_FLIGHT_WAIT_MS_MAX: '1500' },
      beforeStep: async (now) => {
        if (now !== step || !isFirst) return
        isFirst = false
        await slow.promise
      },
    })
    const requestId = randomUUID()
    const late = gate.post(echoRequest('x', requestId))
    await new Promise((resolve) => setTimeout(resolve, 1100))
    const retry = await gate.post(echoRequest('x', requestId))
    assert.equal(retry.body.ok, true)
    slow.resolve()
    assert.equal((await late).status, 503)
    const rows = await callLogRows(gate)
    assert.deepEqual(rows.map((row) => row.code).toSorted(), ['EXPIRED', 'OK'])
    await assertLedgerAudit(gate)
  })

test('what is never asked again is released by the sweep, unbilled', async () => {
  await using gate = await startGate({
    environment: { CALL_TIMEOUT_MS: '1000' },
    beforeStep: (now) => (now === 'run' ? new Promise(() => {}) : undefined),
  })
  createTestClient(gate.url, gate.key)
    .post(echoRequest('lost'))
    .catch(() => undefined)
  await new Promise((resolve) => setTimeout(resolve, 1100))
  await gate.database.gate.sweep()
  const [row] = await callLogRows(gate)
  assert.equal(row?.code, 'EXPIRED')
  assert.equal(row.costMicros, 0n)
  await assertLedgerAudit(gate)
})
