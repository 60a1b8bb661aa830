import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import {
  assertLedgerAudit,
  budgetMicros,
  echoRequest,
  callLogRows,
  startGate,
  type TestGate,
  type TestGateOptions,
} from '../support/gate/test-gate.ts'
import { updateProject } from '../../src/store/tenancy/projects.ts'

/** The settings of a gate that adds one token in a second. */
const slowBucket = (burst: number) => ({
  environment: { RATE_SUSTAINED_PER_S: '1', RATE_BURST: String(burst) },
})

/**
 * Runs a test on a gate that adds a token in a second. If its calls took longer, they may have
 * received another token: a failed run is then repeated.
 */
async function runWithinASecond(
  options: TestGateOptions,
  run: (gate: TestGate) => Promise<void>,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    await using gate = await startGate(options)
    const startMs = performance.now()
    try {
      return await run(gate)
    } catch (error) {
      if (performance.now() - startMs < 1000 || attempt === attemptsMax) throw error
    }
  }
}

const attemptsMax = 10

test('Calls above the burst are RATE_LIMITED, not billed, and include Retry-After', () =>
  runWithinASecond(slowBucket(3), async (gate) => {
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
    assert.ok(
      responses.every(({ headers }) => /^[1-3]$/u.test(headers.get('ratelimit-reset') ?? '')),
    )
    assert.equal(responses[2]?.headers.get('retry-after'), null)
    assert.equal(responses[3]?.headers.get('retry-after'), '1')
    assert.equal(before - (await budgetMicros(gate)), 3000n)
    assert.equal((await callLogRows(gate))[0]?.code, 'RATE_LIMITED')
    await assertLedgerAudit(gate)
  }))

test('Of 200 concurrent calls with a burst of five, five run', async () => {
  await using gate = await startGate({
    environment: { RATE_SUSTAINED_PER_S: '1', RATE_BURST: '5' },
  })
  // The admissions take much less than a second; a slow machine may add a sixth token.
  const startMs = performance.now()
  const responses = await Promise.all(
    Array.from({ length: 200 }, () => gate.post(echoRequest('storm'))),
  )
  const addedTokens = Math.floor((performance.now() - startMs) / 1000)
  const ok = responses.filter(({ body }) => body.ok).length
  assert.ok(ok >= 5 && ok <= 5 + addedTokens, `${ok} ran`)
})

test('A rejected or malformed call consumes a token and its response has the rate-limit headers', () =>
  runWithinASecond(slowBucket(4), async (gate) => {
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
  }))

test('A waiting retry consumes one token, however often it polls', () =>
  runWithinASecond(slowBucket(9), async (gate) => {
    const body = echoRequest('duplicate', randomUUID(), { waitMs: 200 })
    const [first, second] = await Promise.all([gate.post(body), gate.post(body)])
    const remaining = [first, second, await gate.post(echoRequest('next'))].map(({ headers }) =>
      Number(headers.get('ratelimit-remaining')),
    )
    assert.deepEqual(
      remaining.toSorted((a, b) => a - b),
      [6, 7, 8],
    )
  }))

test('Individual limits of a project apply from the next call', () =>
  runWithinASecond({}, async (gate) => {
    const { projectId } = gate.project
    assert.equal((await gate.post(echoRequest('x'))).headers.get('ratelimit-limit'), '100000')
    await updateProject(gate.database.store.db, projectId, { sustainedPerS: 1, burst: 1 })
    const responses = [await gate.post(echoRequest('x')), await gate.post(echoRequest('x'))]
    assert.deepEqual(
      responses.map(({ body }) => body.errors[0]?.code ?? 'OK'),
      ['OK', 'RATE_LIMITED'],
    )
  }))

test('Setting the wall clock by an hour, forward or back, neither adds tokens nor blocks calls', async () => {
  let nowMs = Date.now()
  const clock = () => nowMs
  await runWithinASecond({ clock, ...slowBucket(2) }, async (gate) => {
    const code = async () => (await gate.post(echoRequest('x'))).body.errors[0]?.code ?? 'OK'
    assert.equal(await code(), 'OK')
    assert.equal(await code(), 'OK')
    for (const stepMs of [3_600_000, -7_200_000]) {
      nowMs += stepMs
      assert.equal(await code(), 'RATE_LIMITED')
    }
    await new Promise((resolve) => setTimeout(resolve, 1000))
    assert.equal(await code(), 'OK')
    await assertLedgerAudit(gate)
  })
})
