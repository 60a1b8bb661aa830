import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newId } from '../../../src/lib/ids.ts'
import { isOnPostgres } from '../../support/database/engine.ts'
import { fillCalls } from '../../support/console/fill-calls.ts'
import { startCountingConsole } from '../../support/console/count-reads.ts'
import { assertOk, type TestConsole } from '../../support/console/test-console.ts'

const callCount = 20_100
const keyId = newId()

let testConsole: TestConsole
let readCount: () => number
let rowCount: () => number
before(async () => {
  ;({ testConsole, readCount, rowCount } = await startCountingConsole())
  const { projectId, gallery } = testConsole
  await fillCalls(gallery.database.store, { projectId, keyId, count: callCount })
})
after(() => testConsole[Symbol.asyncDispose]())

/** Sends a request and checks that SQLite answered it with at least this number of reads. */
async function readLog(query: string, readsMin: number) {
  const readsBefore = readCount()
  const { body } = assertOk(await testConsole.owner.get(`/log?period=30d&${query}`))
  const reads = readCount() - readsBefore
  assert.ok(isOnPostgres() || reads >= readsMin, `${query}: ${reads} reads`)
  return body
}

test('SQLite reads the request log in steps if few calls match, with and without an index', async () => {
  const byKey = `keyId=${keyId}&code=NO_FACE_FOUND`
  const filters = ['outcome=live', 'result=ok&outcome=match', byKey]
  for (const filter of [
    ...filters,
    `keyId=${keyId}&nearMiss=true`,
    'action=svc.detect&outcome=live',
  ]) {
    const { items, total } = await readLog(`${filter}&total=true`, 10)
    assert.deepEqual([items, total], [[], 0])
  }
})

test('The pages of the log contain each call once, in both orders of time and across the steps', async () => {
  for (const sort of ['time', '-time']) {
    const latencies: number[] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: Awaited<ReturnType<typeof readLog>> = await readLog(
        `sort=${sort}&limit=200&action=svc.detect${cursor && `&cursor=${cursor}`}`,
        1,
      )
      latencies.push(...page.items.map((item: { latencyMs: number }) => item.latencyMs))
      cursor = page.nextCursor
    }
    const oldestFirst = Array.from({ length: callCount }, (_, index) => callCount - index)
    assert.deepEqual(latencies, sort === 'time' ? oldestFirst : oldestFirst.toReversed())
  }
})

test('Up to 10,000 calls are sorted by latency, and more are refused', async () => {
  const { owner } = testConsole
  const fromUtc = new Date(Date.now() - 9000 * 1000).toISOString()
  const path = `/log?limit=200&fromUtc=${fromUtc}`
  for (const sort of ['latency', '-latency']) {
    const first = assertOk(await owner.get(`${path}&sort=${sort}`)).body
    const next = `${path}&sort=${sort}&cursor=${first.nextCursor}`
    const second = assertOk(await owner.get(next)).body
    const latencies = [...first.items, ...second.items].map(({ latencyMs }) => latencyMs)
    const start = sort === 'latency' ? 1 : latencies[0]
    const step = sort === 'latency' ? 1 : -1
    assert.ok(start === 1 || start > 8000)
    assert.deepEqual(
      latencies,
      Array.from({ length: 400 }, (_, index) => start + step * index),
    )
  }
  assert.equal((await owner.get('/log?sort=latency')).status, 422)
})

test('A download sorted by latency reads each call twice: for the order and for its row', async () => {
  const fromUtc = new Date(Date.now() - 2000 * 1000).toISOString()
  const rowsBefore = rowCount()
  const { text } = assertOk(
    await testConsole.owner.get(`/log.csv?sort=-latency&fromUtc=${fromUtc}`),
  )
  const rows = rowCount() - rowsBefore
  const [header = '', ...lines] = text.trimEnd().split('\r\n')
  const column = header.split(',').indexOf('latencyMs')
  const latencies = lines.map((line) => Number(line.split(',')[column]))
  assert.ok(latencies.length > 1000)
  assert.deepEqual(
    latencies,
    Array.from(latencies, (_, index) => latencies.length - index),
  )
  assert.ok(rows < 3 * latencies.length, `${rows} rows were read for ${latencies.length} calls`)
})
