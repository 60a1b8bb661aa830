import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import {
  assertLedgerAudit,
  budgetMicros,
  echoRequest,
  callLogRows,
  startGate,
} from '../support/gate/test-gate.ts'
import { updateProject } from '../../src/store/tenancy/projects.ts'

test('beyond its burst a project is RATE_LIMITED, unbilled, and told when to come again', async () => {
  await using gate = await startGate({
    environment: { RATE_SUSTAINED_PER_S: '1', RATE_BURST: '3' },
  })
  const before = await budgetMicros(gate)
  const answers = []
  for (let n = 0; n < 4; n++) answers.push(await gate.post(echoRequest(`call ${n}`)))
  assert.deepEqual(
    answers.map(({ body }) => body.errors[0]?.code ?? 'OK'),
    ['OK', 'OK', 'OK', 'RATE_LIMITED'],
  )
  assert.equal(answers[3]?.body.errors[0].message, 'Project rate limit exceeded.')
  assert.deepEqual(
    answers.map(({ headers }) => headers.get('ratelimit-remaining')),
    ['2', '1', '0', '0'],
  )
  assert.deepEqual(
    new Set(answers.map(({ headers }) => headers.get('ratelimit-limit'))),
    new Set(['3']),
  )
  assert.ok(answers.every(({ headers }) => /^[1-3]$/u.test(headers.get('ratelimit-reset') ?? '')))
  assert.equal(answers[2]?.headers.get('retry-after'), null)
  assert.equal(answers[3]?.headers.get('retry-after'), '1')
  assert.equal(before - (await budgetMicros(gate)), 3000n)
  assert.equal((await callLogRows(gate))[0]?.code, 'RATE_LIMITED')
  await assertLedgerAudit(gate)
})

test('two hundred calls at once on a burst of five: five run', async () => {
  await using gate = await startGate({
    environment: { RATE_SUSTAINED_PER_S: '1', RATE_BURST: '5' },
  })
  // A second is far longer than it takes to claim; a sixth token may yet drip in on a slow machine.
  const startMs = performance.now()
  const answers = await Promise.all(
    Array.from({ length: 200 }, () => gate.post(echoRequest('storm'))),
  )
  const dripped = Math.floor((performance.now() - startMs) / 1000)
  const ok = answers.filter(({ body }) => body.ok).length
  assert.ok(ok >= 5 && ok <= 5 + dripped, `${ok} ran`)
})

test('a call that is refused or no call at all takes a token; its answer has the headers', async () => {
  await using gate = await startGate({
    environment: { RATE_SUSTAINED_PER_S: '1', RATE_BURST: '4' },
  })
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

test('a twin pays one token, however often it asks while it waits', async () => {
  await using gate = await startGate({
    environment: { RATE_SUSTAINED_PER_S: '1', RATE_BURST: '9' },
  })
  const body = echoRequest('twin', randomUUID(), { waitMs: 200 })
  const [first, twin] = await Promise.all([gate.post(body), gate.post(body)])
  const remaining = [first, twin, await gate.post(echoRequest('next'))].map(({ headers }) =>
    Number(headers.get('ratelimit-remaining')),
  )
  assert.deepEqual(
    remaining.toSorted((a, b) => a - b),
    [6, 7, 8],
  )
})

test('limits of a project of its own hold from the next call on', async () => {
  await using gate = await startGate()
  const { projectId } = gate.project
  assert.equal((await gate.post(echoRequest('x'))).headers.get('ratelimit-limit'), '100000')
  await updateProject(gate.database.store.db, projectId, { sustainedPerS: 1, burst: 1 })
  const answers = [await gate.post(echoRequest('x')), await gate.post(echoRequest('x'))]
  assert.deepEqual(
    answers.map(({ body }) => body.errors[0]?.code ?? 'OK'),
    ['OK', 'RATE_LIMITED'],
  )
})

test('an hour on the clock of the day, forward or back, gives no free burst and locks nobody out', async () => {
  let nowMs = Date.now()
  await using gate = await startGate({
    clock: () => nowMs,
    environment: { RATE_SUSTAINED_PER_S: '1', RATE_BURST: '2' },
  })
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
