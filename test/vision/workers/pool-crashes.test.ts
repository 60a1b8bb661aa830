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
  openFaultyPool,
  waitUntil,
} from '../../support/vision/faulty-pool.ts'

const jobMsMax = 60_000
const noReply = /no reply within 60000 ms/u

/** The faults of `test/support/vision/faulty-worker.ts` and the logged reasons. */
const crashCases = {
  abort: /killed by SIGABRT/u,
  crash: /killed by SIGSEGV/u,
  exit: /exited with code 0/u,
  spin: noReply,
  hang: noReply,
  stopReading: noReply,
  invalidReply: /invalid reply/u,
  oversizedReply: /invalid reply: a message of 4294967295 bytes/u,
  readyTwice: /sent "ready" twice/u,
}

for (const [fault, reason] of Object.entries(crashCases)) {
  test(`A worker with the fault "${fault}" costs one call a 503 and is replaced`, async (t) => {
    const { lines, log } = createRecordingLog()
    await using pool = openFaultyPool({ workers: 2, jobMsMax, log })
    await waitUntil(() => pool.stats().workersUp === 2)
    // The time of a job without a reply ends when the test advances it, after the replies of the others.
    const isTimeout = reason === noReply
    if (isTimeout) t.mock.timers.enable({ apis: ['setTimeout'] })
    const faulty = Promise.allSettled([analyze(pool, fault)])
    const calls = ['sleep 50', 'fine', 'fine'].map((image) => analyze(pool, image))
    const others = await Promise.allSettled(calls)
    if (isTimeout) t.mock.timers.tick(jobMsMax)
    t.mock.timers.reset()
    const [lost] = await faulty
    assert.ok(lost.status === 'rejected' && isOverloaded(lost.reason), JSON.stringify(lost))
    assert.deepEqual(
      others.map(({ status }) => status),
      ['fulfilled', 'fulfilled', 'fulfilled'],
    )
    await waitUntil(() => pool.stats().respawns === 1 && pool.stats().workersUp === 2)
    const line = lines.find((text) => text.startsWith('warn replacing a vision worker'))
    assert.match(line ?? '', reason)
    const replaced = pool.workerReports().filter(({ restarts }) => restarts === 1)
    assert.deepEqual(
      replaced.map(({ state }) => state),
      ['ready'],
    )
    // The reason of an invalid reply could contain parts of it.
    const isReply = reason.source.startsWith('invalid reply')
    assert.match(replaced[0]?.lastReason ?? '', isReply ? /^invalid reply$/u : reason)
  })
}

test('A reply without a request stops the worker, and earlier replies are used', async () => {
  await using pool = openFaultyPool()
  await assert.rejects(analyze(pool, 'replyTwice'), /unexpected error/u)
  await waitUntil(() => pool.stats().respawns === 1 && pool.stats().workersUp === 1)
  assert.equal((await analyze(pool, 'fine')).width, 4)
})

test('A reply that a worker sent before it exited is used', async () => {
  await using pool = openFaultyPool()
  await assert.rejects(analyze(pool, 'replyAndExit'), /unexpected error/u)
  await waitUntil(() => pool.stats().respawns === 1)
})

test('A worker that crashes while it is free costs no call', async () => {
  await using pool = openFaultyPool()
  const { height: pid } = await analyze(pool, 'fine')
  process.kill(pid, 'SIGKILL')
  await waitUntil(() => pool.stats().respawns === 1)
  assert.equal((await analyze(pool, 'fine')).width, 4)
})

test('An image that crashed two workers is rejected without a worker until it expires', async () => {
  let nowMs = 0
  await using pool = openFaultyPool({ clock: () => nowMs, quarantineMs: 1_000 })
  await assert.rejects(analyze(pool, 'exit'), isOverloaded)
  await assert.rejects(analyze(pool, 'exit'), isOverloaded)
  await assert.rejects(analyze(pool, 'exit'), {
    code: 'INVALID_REQUEST',
    message: /^params\.images\[0\]: this image crashed the decoder 2 times/u,
  })
  assert.equal((await analyze(pool, 'fine')).width, 4)
  await assert.rejects(analyze(pool, 'exit'), { code: 'INVALID_REQUEST' })
  assert.deepEqual([pool.stats().respawns, pool.stats().quarantined], [2, 2])

  nowMs = 1_000
  await assert.rejects(analyze(pool, 'exit'), isOverloaded)
})

test('Of many queued copies of an image that crashes workers, two reach a worker', async () => {
  await using pool = openFaultyPool({ queuePerWorkerMax: 5 })
  const copies = await Promise.allSettled(Array.from({ length: 5 }, () => analyze(pool, 'exit')))
  const outcomes = copies.map((copy) => (copy.status === 'rejected' ? copy.reason.name : 'served'))
  assert.deepEqual(outcomes, ['HttpError', 'HttpError', ...Array(3).fill('ActionError')])
})

test('Changed copies of an image that crashes workers stop reaching workers for their key', async () => {
  await using pool = openFaultyPool()
  // The worker follows the first word of the image.
  for (const copy of ['exit 1', 'exit 2', 'exit 3', 'exit 4'])
    await assert.rejects(analyze(pool, copy), isOverloaded)
  await assert.rejects(analyze(pool, 'exit 5'), {
    status: 503,
    message: /^images of this type and size from this API key crashed the decoder 4 times/u,
    headers: { 'retry-after': '30' },
  })
  assert.deepEqual([pool.stats().respawns, pool.stats().quarantined], [4, 1])
  assert.equal((await analyze(pool, 'fine', { keyId: 'other key' })).width, 4)
})

test('With workers that crash at every start, the pool is not ready and logs the failures', async () => {
  const { lines, log } = createRecordingLog()
  await using pool = openFaultyPool({ modelsFolder: 'missing', log })
  await assert.rejects(pool.ready(), { name: 'WorkerLostError', message: /exited with code 1/u })
  assert.equal(pool.isReady(), false)
  const failures = lines.filter((text) => text.startsWith('error a vision worker failed to start'))
  assert.ok(failures.length >= 3)
  assert.ok(lines.some((text) => text.includes('no such folder')))
  const [{ pid, state, lastReason } = assert.fail()] = pool.workerReports()
  assert.deepEqual([pid, state, lastReason], [null, 'lost', 'failed to start'])
})

test('A worker that is not ready in time is killed', async () => {
  await using pool = openFaultyPool({ modelsFolder: 'slow', startMsMax: 100 })
  await assert.rejects(pool.ready(), /no reply within 100 ms/u)
})

test('When the parent is killed, its workers exit', async () => {
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

test('kill -9 during fifty calls costs only the call in that worker', async () => {
  await using pool = openFaultyPool({ workers: 2, queuePerWorkerMax: 25 })
  const { height: pid } = await analyze(pool, 'fine')
  const calls = Array.from({ length: 50 }, (_, nth) => analyze(pool, `sleep 10 ${nth}`))
  await calls[10]
  process.kill(pid, 'SIGKILL')
  const results = await Promise.allSettled(calls)
  const lost = results.filter((result) => result.status === 'rejected')
  assert.ok(lost.length <= 1 && lost.every(({ reason }) => isOverloaded(reason)))
  await waitUntil(() => pool.stats().workersUp === 2)
  assert.equal(pool.stats().respawns, 1)
})
