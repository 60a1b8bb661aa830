import assert from 'node:assert/strict'
import { test } from 'node:test'
import { backfillHourlyCounts } from '../../src/store/sqlite/backfill-hourly-counts.ts'
import { isOnPostgres } from '../support/database/engine.ts'
import { echoRequest, callLogRows, startGate } from '../support/gate/test-gate.ts'

test('what the hours count is what the log holds, also when commits fail and jobs are taken back', async () => {
  let left = Number.MAX_SAFE_INTEGER
  const atCommit = (step: string): void => {
    if (step === 'commit' && left-- === 0) throw new Error('the disk is gone for a moment')
  }
  await using gate = await startGate({ onCommit: atCommit })
  for (let round = 0; round < 6; round++) {
    left = round
    const some = Array.from({ length: 5 }, (_, at) => {
      const say = `${round} ${at}`
      return gate.post(echoRequest(say, undefined, at === 0 ? { fail: 'action' } : {}))
    })
    await Promise.all(some)
  }
  left = Number.MAX_SAFE_INTEGER
  await gate.post(echoRequest('at last'))
  const rows = await callLogRows(gate)
  const hours = await gate.database.store.db.selectFrom('callHours').selectAll().execute()
  const sum = (of: (hour: (typeof hours)[number]) => number) =>
    hours.reduce((total, hour) => total + of(hour), 0)
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
  // An older log is counted by SQLite's migration: to the same cells.
  await gate.database.store.db.deleteFrom('callHours').execute()
  await backfillHourlyCounts(gate.database.store.db)
  const filled = await gate.database.store.db.selectFrom('callHours').selectAll().execute()
  assert.deepEqual(filled, hours)
})
