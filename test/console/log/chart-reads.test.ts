import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { dayMs } from '../../../src/lib/clock.ts'
import { fillCalls } from '../../support/console/fill-calls.ts'
import { startCountingConsole } from '../../support/console/count-reads.ts'
import { assertOk, type TestConsole } from '../../support/console/test-console.ts'

let testConsole: TestConsole
let readCount: () => number
before(async () => {
  ;({ testConsole, readCount } = await startCountingConsole())
})
after(() => testConsole[Symbol.asyncDispose]())

const days = 100

test('A chart is read day by day: no read blocks the server or exceeds the time of a statement', async () => {
  const { gallery, projectId, owner } = testConsole
  const { store } = gallery.database
  const keyId = 'a-key'
  await fillCalls(store, { projectId, keyId, count: 20 })
  const fromUtc = new Date(Date.now() - days * dayMs).toISOString()
  for (const chart of ['calls?by=key', 'spend?by=key', 'latency?', 'scores?kind=similarity']) {
    const readsBefore = readCount()
    const { body } = assertOk(await owner.get(`/analytics/${chart}&fromUtc=${fromUtc}`))
    const reads = readCount() - readsBefore
    assert.ok(reads > days, `${chart}: ${reads} reads`)
    if (chart.startsWith('calls')) assert.equal(body.series[0].total, 20)
    if (chart.startsWith('latency')) assert.ok(body.overall.p99 > 15)
  }
  const readsBefore = readCount()
  const { body } = assertOk(await owner.get('/overview?days=30'))
  assert.equal(body.calls, 20)
  const reads = readCount() - readsBefore
  assert.ok(reads > 4 * 30, `overview: ${reads} reads`)
})
