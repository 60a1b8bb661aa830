import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import {
  anotherKey,
  anotherProject,
  assertBooks,
  budgetMicros,
  echo,
  logRows,
  setBudget,
  startGate,
} from './gate.ts'

const codes = (rows: readonly { readonly code: string }[]) => rows.map((row) => row.code)

test('two hundred calls at once on the last unit: one runs, twenty times over', async () => {
  await using gate = await startGate()
  for (let round = 0; round < 20; round++) {
    await setBudget(gate, 1000n)
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => gate.post(echo(`round ${round}`))),
    )
    const refused = answers.filter(({ body }) => body.errors[0]?.code === 'PAYMENT_REQUIRED')
    assert.equal(answers.filter(({ body }) => body.ok).length, 1)
    assert.equal(refused.length, 199)
    assert.equal(await budgetMicros(gate), 0n)
    assert.equal(gate.runs.get(`round ${round}`), 1)
  }
  await assertBooks(gate)
})

test('a replay is the first answer again, a thousand times in a row, for one charge', async () => {
  await using gate = await startGate()
  const before = await budgetMicros(gate)
  const body = echo('again', randomUUID())
  const first = (await gate.post(body)).body
  assert.equal(first.ok, true)
  assert.equal('meta' in first, false)
  for (let time = 0; time < 1000; time++) {
    const { meta, ...again } = (await gate.post(body)).body
    assert.deepEqual(meta, { idempotencyReplay: true })
    assert.deepEqual(again, first)
  }
  assert.equal(before - (await budgetMicros(gate)), 1000n)
  assert.equal(gate.runs.get('again'), 1)
  const rows = await logRows(gate)
  assert.equal(rows.length, 1001)
  assert.equal(rows.filter((row) => row.isReplay === 0 && row.costMicros === 1000n).length, 1)
  assert.equal(rows.filter((row) => row.isReplay === 1 && row.costMicros === 0n).length, 1000)
  await assertBooks(gate)
})

test('two hundred twins at once: one works, the others wait for its answer', async () => {
  await using gate = await startGate()
  const before = await budgetMicros(gate)
  const body = echo('twin', randomUUID(), { waitMs: 50 })
  const answers = await Promise.all(Array.from({ length: 200 }, () => gate.post(body)))
  assert.ok(answers.every((answer) => answer.body.ok))
  assert.equal(answers.filter((answer) => answer.body.meta).length, 199)
  assert.equal(gate.runs.get('twin'), 1)
  assert.equal(before - (await budgetMicros(gate)), 1000n)
  await assertBooks(gate)
})

test('a twin does not wait for ever, and a retry after a fault runs', async () => {
  await using gate = await startGate({ environment: { TWIN_WAIT_MS_MAX: '50' } })
  const slow = echo('slow', randomUUID(), { waitMs: 400 })
  const first = gate.post(slow)
  await new Promise((resolve) => setTimeout(resolve, 100))
  const second = await gate.post(slow)
  assert.equal(second.status, 503)
  assert.ok(Number(second.headers.get('retry-after')) >= 1)
  assert.equal((await first).body.ok, true)
  assert.equal((await gate.post(slow)).body.meta.idempotencyReplay, true)

  const faulty = echo('faulty', randomUUID(), { fail: 'fault' })
  assert.equal((await gate.post(faulty)).status, 500)
  assert.equal((await gate.post(faulty)).status, 500)
  assert.equal(gate.runs.get('faulty'), 2)
  await assertBooks(gate)
})

test('the same id with other content is a conflict and leaves the first alone', async () => {
  await using gate = await startGate()
  const requestId = randomUUID()
  const first = echo('one', requestId)
  const { body } = await gate.post(first)
  const before = await budgetMicros(gate)
  const others = [
    echo('two', requestId),
    { ...first, debug: true },
    { ...first, action: 'svc.batch' },
    { ...first, params: { say: 'one', waitMs: 0 } },
    { ...echo('two'), requestId: requestId.toUpperCase() },
  ]
  for (const other of others) {
    const answer = await gate.post(other)
    assert.equal(answer.body.errors[0]?.code, 'REQUEST_ID_CONFLICT', JSON.stringify(other))
  }
  assert.equal(await budgetMicros(gate), before)
  const again = await gate.post({ params: { say: 'one' }, requestId, action: 'svc.echo' })
  assert.deepEqual(again.body.data, body.data)
  assert.equal(again.body.meta.idempotencyReplay, true)
  await assertBooks(gate)
})

test('two spellings of one id are one request, each echoed as it was sent', async () => {
  await using gate = await startGate()
  const requestId = randomUUID()
  await gate.post(echo('spelt', requestId))
  const { body } = await gate.post(echo('spelt', requestId.toUpperCase()))
  assert.equal(body.requestId, requestId.toUpperCase())
  assert.equal(body.meta.idempotencyReplay, true)
  assert.equal(gate.runs.get('spelt'), 1)
})

test('an id belongs to its project: another project starts anew, another key does not', async () => {
  await using gate = await startGate()
  const requestId = randomUUID()
  const body = echo('whose', requestId)
  await gate.post(body)
  const other = await anotherProject(gate, 'other')
  assert.equal('meta' in (await gate.as(other.key).post(body)).body, false)
  assert.equal(gate.runs.get('whose'), 2)
  const sameProject = await anotherKey(gate)
  assert.ok((await gate.as(sameProject).post(body)).body.meta.idempotencyReplay)
  const powerless = await anotherKey(gate, { permissions: ['svc.batch'] })
  const refused = await gate.as(powerless).post(body)
  assert.equal(refused.body.errors[0].code, 'FORBIDDEN')
  await assertBooks(gate)
})

test('a replay outlives the budget, but not its key nor its window', async () => {
  let nowMs = Date.now()
  await using gate = await startGate({ clock: () => nowMs })
  const key = await anotherKey(gate)
  const client = gate.as(key)
  const body = echo('window', randomUUID())
  await client.post(body)
  await setBudget(gate, 0n)
  assert.ok((await client.post(body)).body.meta.idempotencyReplay)
  const fresh = await client.post(echo('fresh'))
  assert.equal(fresh.body.errors[0].code, 'PAYMENT_REQUIRED')

  await setBudget(gate, 5000n)
  nowMs += 24 * 3_600_000 - 1000
  assert.ok((await client.post(body)).body.meta.idempotencyReplay)
  nowMs += 2000
  const later = (await client.post(body)).body
  assert.equal(later.ok, true)
  assert.equal('meta' in later, false)
  assert.equal(await budgetMicros(gate), 4000n)
  assert.equal(gate.runs.get('window'), 2)

  await gate.books.store.db
    .updateTable('keys')
    .set({ revokedAtUtc: new Date().toISOString() })
    .where('name', '=', 'another')
    .execute()
  const revoked = await client.post(body)
  assert.equal(revoked.status, 401)
  assert.match(revoked.body.detail, /revoked/u)
  await assertBooks(gate)
})

test('only ok is billed: every other ending leaves the money where it was, and a row', async () => {
  await using gate = await startGate()
  const powerless = gate.as(await anotherKey(gate, { permissions: ['debug'] }))
  const before = await budgetMicros(gate)
  const huge = JSON.stringify(echo('x'.repeat(25 * 1024 * 1024)))
  const endings: readonly [string, () => Promise<unknown>][] = [
    ['FORBIDDEN', () => powerless.post(echo('no'))],
    ['INVALID_REQUEST', () => gate.post('{')],
    ['HTTP_415', () => gate.post('{}', { 'content-type': 'text/plain' })],
    ['PAYLOAD_TOO_LARGE', () => gate.post(huge)],
    ['INVALID_REQUEST', () => gate.post({ action: 'svc.nothing', params: {} })],
    ['INVALID_REQUEST', () => gate.post(echo('x', undefined, { unknown: 1 }))],
    ['NO_FACE_FOUND', () => gate.post(echo('x', undefined, { fail: 'action' }))],
    ['HTTP_500', () => gate.post(echo('x', undefined, { fail: 'fault' }))],
    ['NO_FACE_FOUND', () => gate.post({ action: 'svc.batch', params: { images: ['', ''] } })],
  ]
  for (const [code, end] of endings) {
    await end()
    const [row] = await logRows(gate)
    assert.equal(row?.code, code)
    assert.equal(row.costMicros, 0n)
    assert.equal(row.transferId, null)
    assert.equal(await budgetMicros(gate), before, code)
  }
  assert.equal((await logRows(gate)).length, endings.length)
  await assertBooks(gate)
})

test('a batch pays for the images that worked', async () => {
  await using gate = await startGate()
  const before = await budgetMicros(gate)
  const { body } = await gate.post({ action: 'svc.batch', params: { images: ['a', '', 'b'] } })
  assert.equal(body.ok, true)
  assert.equal(before - (await budgetMicros(gate)), 4000n)
  await assertBooks(gate)
})

test('an account pays by its own price list', async () => {
  await using gate = await startGate()
  const { accountId } = gate.project
  await gate.books.store.db
    .insertInto('prices')
    .values({ accountId, action: 'svc.echo', unitMicros: 7n })
    .execute()
  const before = await budgetMicros(gate)
  await gate.post(echo('cheap'))
  assert.equal(before - (await budgetMicros(gate)), 7n)
  assert.deepEqual(codes(await logRows(gate)), ['OK'])
})
