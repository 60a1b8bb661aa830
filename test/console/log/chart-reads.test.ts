import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { isOnPostgres } from '../../support/database/engine.ts'
import { fillCalls } from '../../support/console/fill-calls.ts'
import { assertOk, startConsole, type TestConsole } from '../../support/console/test-console.ts'

let readCount = 0
let testConsole: TestConsole
before(async () => {
  testConsole = await startConsole({
    wrapStore: (store) => ({
      ...store,
      read: (job) => {
        readCount += 1
        return store.read(job)
      },
    }),
  })
})
after(() => testConsole[Symbol.asyncDispose]())

const days = 100
const dayMs = 86_400_000

test('SQLite reads a chart day by day, so that other requests run in between', async () => {
  const { gallery, projectId, owner } = testConsole
  const { store } = gallery.database
  const keyId = 'a-key'
  await fillCalls(store, { projectId, keyId, count: 20 })
  const fromUtc = new Date(Date.now() - days * dayMs).toISOString()
  for (const chart of ['calls?by=key', 'spend?by=key', 'latency?', 'scores?kind=similarity']) {
    readCount = 0
    const { body } = assertOk(await owner.get(`/analytics/${chart}&fromUtc=${fromUtc}`))
    assert.ok(isOnPostgres() || readCount > days, `${chart}: ${readCount} reads`)
    if (chart.startsWith('calls')) assert.equal(body.series[0].total, 20)
    if (chart.startsWith('latency')) assert.ok(body.overall.p99 > 15)
  }
  readCount = 0
  const { body } = assertOk(await owner.get('/overview?days=30'))
  assert.equal(body.calls, 20)
  assert.ok(isOnPostgres() || readCount > 4 * 30, `overview: ${readCount} reads`)
})
