import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { forkGate } from '../support/gate/fork-gate.ts'
import { isOnPostgres } from '../support/database/engine.ts'
import {
  createTestClient,
  pauseBeforeRetry,
  type TestClient,
} from '../support/facegate/test-client.ts'
import {
  assertLedgerAudit,
  echoRequest,
  callLogRows,
  startGate,
} from '../support/gate/test-gate.ts'
import { createTestSteadyClock } from '../support/gate/test-steady-clock.ts'

let dataDir: string
before(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-crash-'))
})
after(() => rm(dataDir, { recursive: true, force: true }))

const rounds = Number(process.env['GATE_CRASH_ROUNDS'] ?? (isOnPostgres() ? 2 : 6))
const clients = 100

/**
 * The next server on a data folder releases leftover reservations at once. On PostgreSQL other
 * servers may be running, so a reservation is released only after its timeout.
 */
const crashSettings: Record<string, string> = isOnPostgres() ? { CALL_TIMEOUT_MS: '2000' } : {}

test(`After a kill during ${clients} calls, ${rounds} times, every call has one response and one charge`, async () => {
  await using opened = new AsyncDisposableStack()
  let gate = opened.use(await forkGate(dataDir, crashSettings))
  const { key } = gate
  const sent: string[] = []
  let answeredCount = 0
  for (let round = 0; round < rounds; round++) {
    const requestIds = Array.from({ length: clients }, () => randomUUID())
    sent.push(...requestIds)
    // The number of responses before the kill varies over the whole round.
    const responsesBeforeKill = 1 + ((round * 37) % (clients - 10))
    let responseCount = 0
    const first = await Promise.all(
      requestIds.map(async (requestId) => {
        const response = await callOnce(gate, requestId)
        responseCount++
        if (responseCount === responsesBeforeKill) gate.process.kill('SIGKILL')
        return response
      }),
    )
    answeredCount += first.filter(Boolean).length
    await gate.exited
    gate = opened.use(await forkGate(dataDir, { ...crashSettings, KEY: key }))
    const retried = await Promise.all(
      requestIds.map((requestId) => callUntilAnswered(gate, requestId)),
    )
    for (const [index, response] of retried.entries()) {
      assert.equal(response.ok, true, JSON.stringify(response))
      // A response sent before the crash is replayed after it.
      if (!first[index]) continue
      assert.deepEqual(response.data, first[index].data)
      assert.deepEqual(response.meta, { idempotencyReplay: true })
    }
  }
  assert.ok(
    answeredCount > 0 && answeredCount < sent.length,
    `${answeredCount} were answered before a crash`,
  )
  gate.process.kill('SIGKILL')
  await gate.exited
  await using reopened = await startGate({ dataDir, key })
  await assertLedgerAudit(reopened)
  const billed = (await callLogRows(reopened)).filter((row) => row.transferId !== null)
  assert.deepEqual(billed.map((row) => row.requestId).toSorted(), sent.toSorted())
})

/** Sends a call once. @returns undefined when the connection broke or the status is an error. */
async function callOnce(gate: TestClient, requestId: string) {
  try {
    const { status, body } = await gate.post(echoRequest(requestId, requestId, { waitMs: 5 }))
    return status === 200 ? body : undefined
  } catch {
    return undefined
  }
}

/** Repeats a call until its status is 200. */
async function callUntilAnswered(gate: TestClient, requestId: string) {
  for (;;) {
    const { status, body } = await gate.post(echoRequest(requestId, requestId, { waitMs: 5 }))
    if (status === 200) return body
    assert.ok(isOnPostgres() && status === 503, JSON.stringify(body))
    await pauseBeforeRetry()
  }
}

const steps = ['read', 'admit', 'run', 'settle', 'respond', 'commit', 'committed'] as const

/**
 * On PostgreSQL most calls are single statements without a commit step;
 * test/nodes/faults/commit-disconnects.test.ts covers their commits.
 */
const reachableSteps = steps.filter((step) => !isOnPostgres() || !step.startsWith('commit'))

for (const step of reachableSteps)
  for (const commit of step.startsWith('commit')
    ? (['admit', 'settle'] as const)
    : (['any'] as const))
    test(`After a kill at step ${step} (commit: ${commit}), a retry runs or is replayed, and is billed once`, async () => {
      const folder = await mkdtemp(path.join(tmpdir(), 'facegate-failpoint-'))
      const requestId = randomUUID()
      // The first two commits of a process belong to its start.
      const passCount = step.startsWith('commit') ? (commit === 'admit' ? 2 : 3) : 0
      await using killed = await forkGate(folder, {
        ...crashSettings,
        FAIL_AT: `${step}:${passCount}`,
      })
      const { key } = killed
      assert.equal(await callOnce(killed, requestId), undefined)
      await killed.exited
      await using restarted = await startGate({ dataDir: folder, key, environment: crashSettings })
      const body = await callUntilAnswered(restarted, requestId)
      assert.equal(body.ok, true, JSON.stringify(body))
      const wasSettled = step === 'respond' || (step === 'committed' && commit === 'settle')
      assert.equal('meta' in body, wasSettled)
      const billed = (await callLogRows(restarted)).filter((row) => row.transferId !== null)
      assert.equal(billed.length, 1)
      await assertLedgerAudit(restarted)
      await rm(folder, { recursive: true, force: true })
    })

for (const step of reachableSteps)
  test(`A fault at step ${step} is billed at most once and leaves nothing reserved`, async () => {
    let isArmed = false
    const fail = (current: string): void => {
      if (!isArmed || current !== step) return
      isArmed = false
      throw new Error(`injected at ${step}`)
    }
    await using gate = await startGate({ beforeStep: fail, onCommit: fail })
    const requestId = randomUUID()
    isArmed = true
    const faulty = await gate.post(echoRequest('x', requestId))
    assert.ok(faulty.status >= 500, String(faulty.status))
    // If the result of an admission was lost, its reservation holds the budget until it expires.
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
  test(`A call that is delayed at step ${step} past its deadline cannot commit after its retry`, async () => {
    const slow = Promise.withResolvers<void>()
    const delayed = Promise.withResolvers<void>()
    let isFirst = true
    const steadyClock = createTestSteadyClock()
    await using gate = await startGate({
      environment: { CALL_TIMEOUT_MS: '1000' },
      wrapStore: steadyClock.wrapStore,
      beforeStep: async (now) => {
        if (now !== step || !isFirst) return
        isFirst = false
        delayed.resolve()
        await slow.promise
      },
    })
    const requestId = randomUUID()
    const late = gate.post(echoRequest('x', requestId))
    await delayed.promise
    steadyClock.advance(1001)
    const retry = await gate.post(echoRequest('x', requestId))
    assert.equal(retry.body.ok, true)
    slow.resolve()
    assert.equal((await late).status, 503)
    const rows = await callLogRows(gate)
    assert.deepEqual(rows.map((row) => row.code).toSorted(), ['EXPIRED', 'OK'])
    await assertLedgerAudit(gate)
  })

test('The sweep releases an expired call without charging it', async () => {
  const running = Promise.withResolvers<void>()
  const steadyClock = createTestSteadyClock()
  await using gate = await startGate({
    environment: { CALL_TIMEOUT_MS: '1000' },
    wrapStore: steadyClock.wrapStore,
    beforeStep: async (now) => {
      if (now !== 'run') return
      running.resolve()
      await new Promise(() => {})
    },
  })
  createTestClient(gate.url, gate.key)
    .post(echoRequest('lost'))
    .catch(() => undefined)
  await running.promise
  steadyClock.advance(1001)
  await gate.database.gate.sweep()
  const [row] = await callLogRows(gate)
  assert.equal(row?.code, 'EXPIRED')
  assert.equal(row.costMicros, 0n)
  await assertLedgerAudit(gate)
})
