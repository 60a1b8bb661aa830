import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import {
  assertLedgerAudit,
  budgetMicros,
  echoRequest,
  callLogRows,
  startGate,
  type TestGateOptions,
} from '../support/gate/test-gate.ts'
import { createTestSteadyClock } from '../support/gate/test-steady-clock.ts'
import type { Store } from '../../src/store/database.ts'
import { updateProject } from '../../src/store/tenancy/projects.ts'

/** Starts a gate whose buckets receive a token in each second by the clock that it returns. */
async function startSlowGate(burst: number, options: TestGateOptions = {}) {
  const steadyClock = createTestSteadyClock()
  const environment = { RATE_SUSTAINED_PER_S: '1', RATE_BURST: String(burst) }
  const gate = await startGate({ wrapStore: steadyClock.wrapStore, environment, ...options })
  const codeOf = async () => (await gate.post(echoRequest('x'))).body.errors[0]?.code ?? 'OK'
  return { ...gate, steadyClock, codeOf }
}

test('Calls above the burst are RATE_LIMITED, not billed, and include Retry-After', async () => {
  await using gate = await startSlowGate(3)
  const before = await budgetMicros(gate)
  const responses = []
  for (let n = 0; n < 4; n++) responses.push(await gate.post(echoRequest(`call ${n}`)))
  assert.deepEqual(
    responses.map(({ body }) => body.errors[0]?.code ?? 'OK'),
    ['OK', 'OK', 'OK', 'RATE_LIMITED'],
  )
  assert.equal(responses[3]?.body.errors[0].message, 'Project rate limit exceeded.')
  assert.deepEqual(
    responses.map(({ headers }) => headers.get('ratelimit-remaining')),
    ['2', '1', '0', '0'],
  )
  assert.deepEqual(
    new Set(responses.map(({ headers }) => headers.get('ratelimit-limit'))),
    new Set(['3']),
  )
  assert.deepEqual(
    responses.map(({ headers }) => headers.get('ratelimit-reset')),
    ['1', '2', '3', '3'],
  )
  assert.equal(responses[2]?.headers.get('retry-after'), null)
  assert.equal(responses[3]?.headers.get('retry-after'), '1')
  assert.equal(before - (await budgetMicros(gate)), 3000n)
  assert.equal((await callLogRows(gate))[0]?.code, 'RATE_LIMITED')
  await assertLedgerAudit(gate)
})

test('Of 200 concurrent calls with a burst of five, five run', async () => {
  await using gate = await startSlowGate(5)
  const responses = await Promise.all(
    Array.from({ length: 200 }, () => gate.post(echoRequest('storm'))),
  )
  assert.equal(responses.filter(({ body }) => body.ok).length, 5)
})

test('A rejected or malformed call consumes a token and its response has the rate-limit headers', async () => {
  await using gate = await startSlowGate(4)
  const bodies = [
    '{',
    { action: 'svc.nothing', params: {} },
    echoRequest('x', undefined, { typo: 1 }),
  ]
  for (const [n, body] of bodies.entries()) {
    const { headers } = await gate.post(body)
    assert.equal(headers.get('ratelimit-remaining'), String(3 - n))
  }
  await gate.post(echoRequest('last'))
  const limited = await gate.post({ action: 'svc.nothing', params: {} })
  assert.equal(limited.body.errors[0].code, 'RATE_LIMITED')
  assert.equal((await gate.post('{')).status, 400)
})

test('A waiting retry consumes one token, however often it polls', async () => {
  const running = Promise.withResolvers<void>()
  const finish = Promise.withResolvers<void>()
  await using gate = await startSlowGate(9, {
    beforeStep: async (step) => {
      if (step !== 'run') return
      running.resolve()
      await finish.promise
    },
  })
  const body = echoRequest('duplicate', randomUUID())
  const first = gate.post(body)
  await running.promise
  const second = gate.post(body)
  while (gate.database.gate.stats().duplicatesWaiting === 0) await new Promise(setImmediate)
  finish.resolve()
  const responses = [await first, await second, await gate.post(echoRequest('next'))]
  const remaining = responses.map(({ headers }) => Number(headers.get('ratelimit-remaining')))
  assert.deepEqual(remaining, [8, 7, 6])
})

test('Individual limits of a project apply from the next call', async () => {
  const steadyClock = createTestSteadyClock()
  await using gate = await startGate({ wrapStore: steadyClock.wrapStore })
  const { projectId } = gate.project
  assert.equal((await gate.post(echoRequest('x'))).headers.get('ratelimit-limit'), '100000')
  steadyClock.advance(1000)
  await updateProject(gate.database.store.db, projectId, { sustainedPerS: 1, burst: 1 })
  const responses = [await gate.post(echoRequest('x')), await gate.post(echoRequest('x'))]
  assert.deepEqual(
    responses.map(({ body }) => body.errors[0]?.code ?? 'OK'),
    ['OK', 'RATE_LIMITED'],
  )
})

const hourMs = 3_600_000

test('Setting the wall clock by an hour, forward or back, neither adds tokens nor blocks calls', async () => {
  let nowMs = Date.now()
  await using gate = await startSlowGate(2, { clock: () => nowMs })
  const { codeOf, steadyClock } = gate
  assert.deepEqual([await codeOf(), await codeOf()], ['OK', 'OK'])
  for (const stepMs of [hourMs, -2 * hourMs]) {
    nowMs += stepMs
    assert.equal(await codeOf(), 'RATE_LIMITED')
  }
  steadyClock.advance(999)
  assert.equal(await codeOf(), 'RATE_LIMITED')
  steadyClock.advance(1)
  assert.equal(await codeOf(), 'OK')
  await assertLedgerAudit(gate)
})

test('The clock of the rate limits does not follow the wall clock', async (t) => {
  let store: Store | undefined
  const wrapStore = (opened: Store): Store => (store = opened)
  await using _gate = await startGate({ wrapStore })
  assert.ok(store)
  const before = store.steadyClock()
  const nowMs = Date.now()
  for (const stepMs of [hourMs, -2 * hourMs]) {
    const { mock } = t.mock.method(Date, 'now', () => nowMs + stepMs)
    const elapsedUs = store.steadyClock() - before
    assert.ok(elapsedUs >= 0 && elapsedUs < (hourMs / 2) * 1000, `${elapsedUs} us`)
    mock.restore()
  }
})
