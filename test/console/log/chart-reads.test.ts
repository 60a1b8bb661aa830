import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { dayMs, hourMs } from '../../../src/lib/clock.ts'
import { newId } from '../../../src/lib/ids.ts'
import { fillCalls } from '../../support/console/fill-calls.ts'
import { isOnPostgres } from '../../support/database/engine.ts'
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

test('The usage of several keys is read key by key', async () => {
  const { gallery, projectId, owner } = testConsole
  const keyIds = [newId(), newId(), newId()]
  for (const keyId of keyIds)
    await fillCalls(gallery.database.store, { projectId, keyId, count: 2 })
  const readsOf = async (ids: readonly string[]) => {
    const readsBefore = readCount()
    const { body } = assertOk(await owner.get(`/key-usage?keyIds=${ids.join(',')}`))
    const calls = body.items.map(({ month }: { month: { calls: number } }) => month.calls)
    assert.deepEqual(
      calls,
      ids.map(() => 2),
    )
    return readCount() - readsBefore
  }
  assert.equal((await readsOf(keyIds)) - (await readsOf(keyIds.slice(0, 1))), 2)
})

const manyKeys = 1100
const hours = 4

test('The hours of many keys are read in several parts, and the smaller keys are one series', async () => {
  const { gallery, projectId, owner } = testConsole
  const startMs = Math.floor(Date.now() / dayMs) * dayMs - 200 * dayMs
  await gallery.database.store.write(async (tx) => {
    for (let call = 0; call < manyKeys * hours; call++)
      await tx.logCall({
        projectId,
        keyId: `key ${call % manyKeys}`,
        requestId: newId(),
        action: 'svc.identify',
        code: 'NO_FACE_FOUND',
        latencyMs: 10,
        atMs: startMs + Math.floor(call / manyKeys) * hourMs,
        costMicros: 0n,
        meteredMicros: 0n,
        isReplay: 0,
        transferId: null,
      })
  })
  const rangeOf = (fromMs: number) => {
    const [fromUtc, toUtc] = [fromMs, fromMs + hours * hourMs].map((ms) =>
      new Date(ms).toISOString(),
    )
    return `bucket=day&fromUtc=${fromUtc}&toUtc=${toUtc}`
  }
  const readsOf = async (chart: string, fromMs: number) => {
    const readsBefore = readCount()
    const { body } = assertOk(await owner.get(`/analytics/${chart}${rangeOf(fromMs)}`))
    return { body, reads: readCount() - readsBefore }
  }
  const empty = await readsOf('latency?', startMs - dayMs)
  const latency = await readsOf('latency?', startMs)
  assert.ok(latency.reads >= empty.reads + 2, `${latency.reads} reads, ${empty.reads} if empty`)
  assert.ok(Math.abs(latency.body.p50[0] - 10) < 1)
  const { series } = (await readsOf('calls?by=key&', startMs)).body
  assert.equal(series.length, 201)
  const [largest, second] = series
  assert.deepEqual(
    [largest.id, largest.counts, second.counts],
    ['others', [(manyKeys - 200) * hours], [hours]],
  )
})

test('The page of cameras has at most 200 keys, those with changes first', async () => {
  const { gallery, projectId, owner } = testConsole
  await gallery.database.store.write(async (tx) => {
    for (let key = 0; key < 210; key++)
      for (const [atMs, code] of [
        [Date.now() - 10 * dayMs, 'OK'],
        [Date.now(), 'NO_FACE_FOUND'],
      ] as const)
        for (let call = 0; call < (key === 209 ? 50 : 1); call++)
          await tx.logCall({
            projectId,
            keyId: `camera ${key}`,
            requestId: newId(),
            action: 'svc.identify',
            outcome: code === 'OK' ? 'match' : null,
            code,
            latencyMs: 10,
            atMs,
            costMicros: 0n,
            meteredMicros: 0n,
            isReplay: 0,
            transferId: null,
          })
  })
  const { keyCount, keys } = assertOk(await owner.get('/analytics/cameras')).body
  assert.deepEqual([keyCount, keys.length, keys[0].keyId], [210, 200, 'camera 209'])
})

const onSqlite = { skip: isOnPostgres() && 'PostgreSQL stores the counts as an array' }

test('A damaged latency histogram does not make a chart fail', onSqlite, async () => {
  const { gallery, owner } = testConsole
  for (const size of [0, 3, 1000])
    await gallery.database.store.db
      .updateTable('callHours')
      .set({ latencies: new Uint8Array(size) })
      .where('keyId', '=', `key ${size}`)
      .execute()
  const fromUtc = new Date(Date.now() - 250 * dayMs).toISOString()
  assertOk(await owner.get(`/analytics/latency?fromUtc=${fromUtc}`))
})

test('The position of a key among the series follows its age, also after a rename', async () => {
  const { gallery, projectId, owner } = testConsole
  const send = async (method: string, path: string, body: object) =>
    assertOk(await owner.send(method, path, body)).body
  const second = await send('POST', '/projects', { name: 'second', galleryMode: 'isolated' })
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f'])
    for (const ofProject of [second.projectId, projectId]) {
      const key = { projectId: ofProject, name, permissions: ['svc.detect'] }
      const { keyId } = await send('POST', '/keys', key)
      await fillCalls(gallery.database.store, { projectId: ofProject, keyId, count: 1 })
    }
  const listed: readonly { readonly keyId: string }[] = assertOk(await owner.get('/keys')).body
    .items
  const oldestFirst = listed.map(({ keyId }) => keyId).toReversed()
  const readOrder = async (): Promise<readonly string[]> => {
    const { series } = assertOk(
      await owner.get('/analytics/calls?by=key&period=24h&action=svc.detect'),
    ).body
    const orders = new Map<string, number>(
      series.map(({ id, order }: { id: string; order: number }) => [id, order]),
    )
    const position = (keyId: string): number => orders.get(keyId) ?? 0
    return oldestFirst
      .filter((keyId) => orders.has(keyId))
      .toSorted((a, b) => position(a) - position(b))
  }
  const order = await readOrder()
  assert.ok(order.length >= 12)
  assert.deepEqual(
    order,
    oldestFirst.filter((keyId) => order.includes(keyId)),
  )
  for (const name of ['renamed', 'a']) await send('PATCH', `/keys/${order[0]}`, { name })
  assert.deepEqual(await readOrder(), order)
})
