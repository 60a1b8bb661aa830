import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { isOnPostgres } from '../support/database/engine.ts'
import {
  addKey,
  addProject,
  assertLedgerAudit,
  budgetMicros,
  echoRequest,
  callLogRows,
  setBudget,
  startGate,
} from '../support/gate/test-gate.ts'

/** On PostgreSQL, a call costs ten times the processor time. */
const [rounds, replays] = isOnPostgres() ? [3, 100] : [20, 1000]

const codes = (rows: readonly { readonly code: string }[]) => rows.map((row) => row.code)

test(`Of 200 concurrent calls for the last unit of the budget, exactly one runs, in ${rounds} rounds`, async () => {
  await using gate = await startGate()
  for (let round = 0; round < rounds; round++) {
    await setBudget(gate, 1000n)
    const responses = await Promise.all(
      Array.from({ length: 200 }, () => gate.post(echoRequest(`round ${round}`))),
    )
    const rejected = responses.filter(({ body }) => body.errors[0]?.code === 'PAYMENT_REQUIRED')
    assert.equal(responses.filter(({ body }) => body.ok).length, 1)
    assert.equal(rejected.length, 199)
    assert.equal(await budgetMicros(gate), 0n)
    assert.equal(gate.runCounts.get(`round ${round}`), 1)
  }
  await assertLedgerAudit(gate)
})

test(`${replays} replays return the first response for one charge`, async () => {
  await using gate = await startGate()
  const before = await budgetMicros(gate)
  const body = echoRequest('again', randomUUID())
  const first = (await gate.post(body)).body
  assert.equal(first.ok, true)
  assert.equal('meta' in first, false)
  for (let replay = 0; replay < replays; replay++) {
    const { meta, ...repeated } = (await gate.post(body)).body
    assert.deepEqual(meta, { idempotencyReplay: true })
    assert.deepEqual(repeated, first)
  }
  assert.equal(before - (await budgetMicros(gate)), 1000n)
  assert.equal(gate.runCounts.get('again'), 1)
  const rows = await callLogRows(gate)
  assert.equal(rows.length, replays + 1)
  assert.equal(rows.filter((row) => row.isReplay === 0 && row.costMicros === 1000n).length, 1)
  assert.equal(rows.filter((row) => row.isReplay === 1 && row.costMicros === 0n).length, replays)
  await assertLedgerAudit(gate)
})

test('Of 200 concurrent calls with one requestId, one runs and the others wait for its response', async () => {
  await using gate = await startGate()
  const before = await budgetMicros(gate)
  const body = echoRequest('duplicate', randomUUID(), { waitMs: 50 })
  const responses = await Promise.all(Array.from({ length: 200 }, () => gate.post(body)))
  assert.ok(responses.every(({ body }) => body.ok))
  assert.equal(responses.filter(({ body }) => body.meta).length, 199)
  assert.equal(gate.runCounts.get('duplicate'), 1)
  assert.equal(before - (await budgetMicros(gate)), 1000n)
  await assertLedgerAudit(gate)
})

test('A waiting retry times out, and a retry after a fault runs again', async () => {
  const [started, finish] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  await using gate = await startGate({
    environment: { IN_FLIGHT_WAIT_MS_MAX: '50' },
    beforeStep: async (step) => {
      if (step !== 'run') return
      started.resolve()
      await finish.promise
    },
  })
  const slow = echoRequest('slow', randomUUID())
  const first = gate.post(slow)
  await started.promise
  const second = await gate.post(slow)
  assert.equal(second.status, 503)
  finish.resolve()
  assert.ok(Number(second.headers.get('retry-after')) >= 1)
  assert.equal((await first).body.ok, true)
  assert.equal((await gate.post(slow)).body.meta.idempotencyReplay, true)

  const faulty = echoRequest('faulty', randomUUID(), { fail: 'fault' })
  assert.equal((await gate.post(faulty)).status, 500)
  assert.equal((await gate.post(faulty)).status, 500)
  assert.equal(gate.runCounts.get('faulty'), 2)
  await assertLedgerAudit(gate)
})

test('The same requestId with other content is a conflict and does not change the first call', async () => {
  await using gate = await startGate()
  const requestId = randomUUID()
  const first = echoRequest('one', requestId)
  const { body } = await gate.post(first)
  const before = await budgetMicros(gate)
  const others = [
    echoRequest('two', requestId),
    { ...first, debug: true },
    { ...first, action: 'svc.batch' },
    { ...first, params: { text: 'one', waitMs: 0 } },
    { ...echoRequest('two'), requestId: requestId.toUpperCase() },
  ]
  for (const other of others) {
    const { body: conflict } = await gate.post(other)
    assert.equal(conflict.errors[0]?.code, 'REQUEST_ID_CONFLICT', JSON.stringify(other))
  }
  assert.equal(await budgetMicros(gate), before)
  const replay = await gate.post({ params: { text: 'one' }, requestId, action: 'svc.echo' })
  assert.deepEqual(replay.body.data, body.data)
  assert.equal(replay.body.meta.idempotencyReplay, true)
  await assertLedgerAudit(gate)
})

test('Two spellings of a requestId are one request; each is echoed as sent', async () => {
  await using gate = await startGate()
  const requestId = randomUUID()
  await gate.post(echoRequest('spelt', requestId))
  const { body } = await gate.post(echoRequest('spelt', requestId.toUpperCase()))
  assert.equal(body.requestId, requestId.toUpperCase())
  assert.equal(body.meta.idempotencyReplay, true)
  assert.equal(gate.runCounts.get('spelt'), 1)
})

test('A requestId is scoped to its project: another project runs the call, another key gets the replay', async () => {
  await using gate = await startGate()
  const requestId = randomUUID()
  const body = echoRequest('shared id', requestId)
  await gate.post(body)
  const other = await addProject(gate, 'other')
  assert.equal('meta' in (await gate.withKey(other.key).post(body)).body, false)
  assert.equal(gate.runCounts.get('shared id'), 2)
  const sameProject = await addKey(gate)
  assert.ok((await gate.withKey(sameProject).post(body)).body.meta.idempotencyReplay)
  const withoutPermission = await addKey(gate, { permissions: ['svc.batch'] })
  const rejected = await gate.withKey(withoutPermission).post(body)
  assert.equal(rejected.body.errors[0].code, 'FORBIDDEN')
  await assertLedgerAudit(gate)
})

test('A replay needs no budget, but a valid key, and ends with the replay window', async () => {
  let nowMs = Date.now()
  await using gate = await startGate({ clock: () => nowMs })
  const key = await addKey(gate)
  const client = gate.withKey(key)
  const body = echoRequest('window', randomUUID())
  await client.post(body)
  await setBudget(gate, 0n)
  assert.ok((await client.post(body)).body.meta.idempotencyReplay)
  const fresh = await client.post(echoRequest('fresh'))
  assert.equal(fresh.body.errors[0].code, 'PAYMENT_REQUIRED')

  await setBudget(gate, 5000n)
  nowMs += 24 * 3_600_000 - 1000
  assert.ok((await client.post(body)).body.meta.idempotencyReplay)
  nowMs += 2000
  const later = (await client.post(body)).body
  assert.equal(later.ok, true)
  assert.equal('meta' in later, false)
  assert.equal(await budgetMicros(gate), 4000n)
  assert.equal(gate.runCounts.get('window'), 2)

  await gate.database.store.db
    .updateTable('keys')
    .set({ revokedAtUtc: new Date().toISOString() })
    .where('name', '=', 'another')
    .execute()
  const revoked = await client.post(body)
  assert.equal(revoked.status, 401)
  assert.match(revoked.body.detail, /revoked/u)
  await assertLedgerAudit(gate)
})

test('Only successful calls are billed; every failed call adds a log row without a charge', async () => {
  await using gate = await startGate()
  const withoutPermission = gate.withKey(await addKey(gate, { permissions: ['debug'] }))
  const before = await budgetMicros(gate)
  const huge = JSON.stringify(echoRequest('x'.repeat(25 * 1024 * 1024)))
  const endings: readonly [string, () => Promise<unknown>][] = [
    ['FORBIDDEN', () => withoutPermission.post(echoRequest('no'))],
    ['INVALID_REQUEST', () => gate.post('{')],
    ['HTTP_415', () => gate.post('{}', { 'content-type': 'text/plain' })],
    ['PAYLOAD_TOO_LARGE', () => gate.post(huge)],
    ['INVALID_REQUEST', () => gate.post({ action: 'svc.nothing', params: {} })],
    ['INVALID_REQUEST', () => gate.post(echoRequest('x', undefined, { unknown: 1 }))],
    ['NO_FACE_FOUND', () => gate.post(echoRequest('x', undefined, { fail: 'action' }))],
    ['HTTP_500', () => gate.post(echoRequest('x', undefined, { fail: 'fault' }))],
    ['NO_FACE_FOUND', () => gate.post({ action: 'svc.batch', params: { images: ['', ''] } })],
  ]
  for (const [code, send] of endings) {
    await send()
    const [row] = await callLogRows(gate)
    assert.equal(row?.code, code)
    assert.equal(row.costMicros, 0n)
    assert.equal(row.transferId, null)
    assert.equal(await budgetMicros(gate), before, code)
  }
  assert.equal((await callLogRows(gate)).length, endings.length)
  await assertLedgerAudit(gate)
})

test('A batch is billed for the images that succeeded', async () => {
  await using gate = await startGate()
  const before = await budgetMicros(gate)
  const { body } = await gate.post({ action: 'svc.batch', params: { images: ['a', '', 'b'] } })
  assert.equal(body.ok, true)
  assert.equal(before - (await budgetMicros(gate)), 4000n)
  await assertLedgerAudit(gate)
})

test('An account is billed by its own price list', async () => {
  await using gate = await startGate()
  const { accountId } = gate.project
  await gate.database.store.db
    .insertInto('prices')
    .values({ accountId, action: 'svc.echo', unitMicros: 7n })
    .execute()
  const before = await budgetMicros(gate)
  await gate.post(echoRequest('cheap'))
  assert.equal(before - (await budgetMicros(gate)), 7n)
  assert.deepEqual(codes(await callLogRows(gate)), ['OK'])
})
