import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

import {
  analyze,
  isOverloaded,
  isRunning,
  createRecordingLog,
  openFaultyPool as open,
  waitUntil,
} from '../../support/vision/faulty-pool.ts'

/** What `test/support/vision/faulty-worker.ts` can do to itself, and what the log says of it. */
const crashCases = {
  abort: /ended by SIGABRT/u,
  crash: /ended by SIGSEGV/u,
  exit: /ended with code 0/u,
  spin: /no answer within 1000 ms/u,
  hang: /no answer within 1000 ms/u,
  mute: /no answer within 1000 ms/u,
  garbage: /sent garbage/u,
  flood: /sent garbage: a frame of 4294967295 bytes/u,
  early: /said "ready" twice/u,
}

for (const [fault, why] of Object.entries(crashCases)) {
  test(`a worker that meets "${fault}" costs one call a 503 and is replaced`, async () => {
    const { lines, log } = createRecordingLog()
    await using pool = open({ workers: 2, jobMsMax: 1_000, log })
    await waitUntil(() => pool.stats().workersUp === 2)
    const calls = [
      analyze(pool, fault),
      analyze(pool, 'sleep 50'),
      analyze(pool, 'fine'),
      analyze(pool, 'fine'),
    ]
    const [lost, ...others] = await Promise.allSettled(calls)
    assert.ok(lost?.status === 'rejected' && isOverloaded(lost.reason), JSON.stringify(lost))
    assert.deepEqual(
      others.map(({ status }) => status),
      ['fulfilled', 'fulfilled', 'fulfilled'],
    )
    await waitUntil(() => pool.stats().respawns === 1 && pool.stats().workersUp === 2)
    const line = lines.find((text) => text.startsWith('warn a vision worker is being replaced'))
    assert.match(line ?? '', why)
  })
}

test('an answer that nobody asked for ends a worker, and the answers before it count', async () => {
  await using pool = open()
  await assert.rejects(analyze(pool, 'babble'), /met a fault/u)
  await waitUntil(() => pool.stats().respawns === 1 && pool.stats().workersUp === 1)
  assert.equal((await analyze(pool, 'fine')).width, 4)
})

test('what a worker said before it ended counts', async () => {
  await using pool = open()
  await assert.rejects(analyze(pool, 'lastWords'), /met a fault/u)
  await waitUntil(() => pool.stats().respawns === 1)
})

test('a worker that dies while it is free costs no call', async () => {
  await using pool = open()
  const { height: pid } = await analyze(pool, 'fine')
  process.kill(pid, 'SIGKILL')
  await waitUntil(() => pool.stats().respawns === 1)
  assert.equal((await analyze(pool, 'fine')).width, 4)
})

test('a picture that killed two workers is refused without one, until it is forgotten', async () => {
  let nowMs = 0
  await using pool = open({ clock: () => nowMs, quarantineMs: 1_000 })
  await assert.rejects(analyze(pool, 'exit'), isOverloaded)
  await assert.rejects(analyze(pool, 'exit'), isOverloaded)
  await assert.rejects(analyze(pool, 'exit'), {
    code: 'INVALID_REQUEST',
    message: /^params\.images\[0\]: this image stopped the decoder 2 times/u,
  })
  assert.equal((await analyze(pool, 'fine')).width, 4)
  await assert.rejects(analyze(pool, 'exit'), { code: 'INVALID_REQUEST' })
  assert.deepEqual([pool.stats().respawns, pool.stats().quarantined], [2, 2])

  nowMs = 1_000
  await assert.rejects(analyze(pool, 'exit'), isOverloaded)
})

test('of many copies of a deadly picture in the queue, two reach a worker', async () => {
  await using pool = open({ queuePerWorkerMax: 5, queueWaitMsMax: 20_000 })
  const copies = await Promise.allSettled(Array.from({ length: 5 }, () => analyze(pool, 'exit')))
  const reasons = copies.map((copy) => (copy.status === 'rejected' ? copy.reason.name : 'served'))
  assert.deepEqual(reasons, ['HttpError', 'HttpError', ...Array(3).fill('ActionError')])
})

test('workers that die at every start leave the pool unready, and say so', async () => {
  const { lines, log } = createRecordingLog()
  await using pool = open({ modelsFolder: 'missing', log })
  await assert.rejects(pool.ready(), { name: 'WorkerLost', message: /ended with code 1/u })
  assert.equal(pool.isReady(), false)
  const deaths = lines.filter((text) => text.startsWith('error a vision worker died at its start'))
  assert.ok(deaths.length >= 3)
  assert.ok(lines.some((text) => text.includes('no such folder')))
})

test('a worker that does not get ready in time is given up', async () => {
  await using pool = open({ modelsFolder: 'slow', startMsMax: 100 })
  await assert.rejects(pool.ready(), /no answer within 100 ms/u)
})

test('when the parent is killed, its workers end themselves', async () => {
  const fixture = new URL('../../support/vision/pool-owner.ts', import.meta.url)
  const owner = spawn(process.execPath, [fileURLToPath(fixture)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = (await once(owner.stdout, 'data')) as [Buffer]
  const pids = JSON.parse(line.toString()) as number[]
  assert.ok(pids.length === 2 && pids.every(isRunning), 'an idle worker and a busy one')
  owner.kill('SIGKILL')
  await waitUntil(() => !pids.some(isRunning))
})

test('kill -9 amid fifty calls costs the calls in that worker, and no other', async () => {
  await using pool = open({ workers: 2, queuePerWorkerMax: 25, queueWaitMsMax: 20_000 })
  const { height: pid } = await analyze(pool, 'fine')
  const calls = Array.from({ length: 50 }, (_, nth) => analyze(pool, `sleep 10 ${nth}`))
  await calls[10]
  process.kill(pid, 'SIGKILL')
  const answers = await Promise.allSettled(calls)
  const lost = answers.filter((answer) => answer.status === 'rejected')
  assert.ok(lost.length <= 1 && lost.every(({ reason }) => isOverloaded(reason)))
  await waitUntil(() => pool.stats().workersUp === 2)
  assert.equal(pool.stats().respawns, 1)
})
