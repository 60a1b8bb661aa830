import assert from 'node:assert/strict'
import { test } from 'node:test'
import { storeHourlyCounts } from '../../bench/console/count-call-log.ts'
import { isOnPostgres } from '../support/database/engine.ts'
import { echoRequest, callLogRows, startGate } from '../support/gate/test-gate.ts'

test('The hourly counts equal the request log, even after failed commits and rollbacks', async () => {
  let remainingCommits = Number.MAX_SAFE_INTEGER
  const failCommit = (step: string): void => {
    if (step === 'commit' && remainingCommits-- === 0) throw new Error('the disk is unavailable')
  }
  await using gate = await startGate({ onCommit: failCommit })
  for (let round = 0; round < 6; round++) {
    remainingCommits = round
    const calls = Array.from({ length: 5 }, (_, index) => {
      const text = `${round} ${index}`
      return gate.post(echoRequest(text, undefined, index === 0 ? { fail: 'action' } : {}))
    })
    await Promise.all(calls)
  }
  remainingCommits = Number.MAX_SAFE_INTEGER
  await gate.post(echoRequest('last'))
  const rows = await callLogRows(gate)
  const hours = await gate.database.store.db.selectFrom('callHours').selectAll().execute()
  const sum = (valueOf: (hour: (typeof hours)[number]) => number) =>
    hours.reduce((total, hour) => total + valueOf(hour), 0)
  assert.ok(rows.length > 20)
  assert.equal(
    sum(({ calls }) => calls),
    rows.length,
  )
  assert.equal(
    sum(({ billed }) => billed),
    rows.filter((row) => row.transferId !== null).length,
  )
  const cost = rows.reduce((total, { costMicros }) => total + costMicros, 0n)
  assert.equal(
    hours.reduce((total, { costMicros }) => total + costMicros, 0n),
    cost,
  )
  const counted = sum(({ latencies }) =>
    new Uint32Array(latencies.slice().buffer).reduce((a, b) => a + b),
  )
  assert.equal(counted, rows.length)
  if (isOnPostgres()) return
  await gate.database.store.db.deleteFrom('callHours').execute()
  await storeHourlyCounts(gate.database.store.db)
  const recounted = await gate.database.store.db.selectFrom('callHours').selectAll().execute()
  assert.deepEqual(recounted, hours)
})

test('Calls without a known action are logged and counted as one name', async () => {
  await using gate = await startGate()
  for (const action of ['a', 'b', gate.key, undefined, 7]) {
    const { body } = await gate.post({ action, params: {} })
    assert.equal(body.action, typeof action === 'string' ? action : '')
  }
  const names = (rows: readonly { readonly action: string }[]) => rows.map(({ action }) => action)
  assert.deepEqual(new Set(names(await callLogRows(gate))), new Set(['unknown']))
  const { db } = gate.database.store
  const counts = await db.selectFrom('callHours').select(['action', 'calls']).execute()
  assert.deepEqual(new Set(names(counts)), new Set(['unknown']))
})
