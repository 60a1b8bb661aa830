import assert from 'node:assert/strict'
import { test } from 'node:test'

import { ActionError, HttpError } from '../../../src/lib/errors.ts'
import {
  analyze,
  isOverloaded,
  isRunning,
  createRecordingLog,
  openFaultyPool as open,
  waitUntil,
} from '../../support/vision/faulty-pool.ts'

test('a view crosses the border as it is', async () => {
  await using pool = open()
  const view = await analyze(pool, 'fine')
  assert.equal(view.width, 'fine'.length)
  const stages = 'decode detect landmarks align embed liveness attributes picture'.split(' ')
  assert.deepEqual(view.timingsMs, Object.fromEntries(stages.map((stage) => [stage, 0])))
})

test('a picture of 8 MiB arrives whole', async () => {
  await using pool = open()
  const bytes = 'A'.repeat(Math.ceil((8 * 1024 * 1024) / 3) * 4)
  const view = await analyze(pool, bytes)
  assert.equal(view.width, bytes.length)
})

test('an expected failure crosses the border with its code and every message', async () => {
  await using pool = open()
  await assert.rejects(analyze(pool, 'problem'), (error) => {
    assert.ok(error instanceof ActionError)
    assert.deepEqual(
      error.problems,
      ['one', 'two'].map((text) => ({
        code: 'IMAGE_DECODE_FAILED',
        message: `params.images[0]: ${text}`,
      })),
    )
    return true
  })
  assert.equal(pool.stats().respawns, 0)
})

test('a fault of the worker is told to the log and not to the caller', async () => {
  const { lines, log } = createRecordingLog()
  await using pool = open({ log })
  await assert.rejects(analyze(pool, 'fault'), (error) => {
    assert.ok(error instanceof Error && !(error instanceof HttpError))
    assert.doesNotMatch(String(error.stack), /secret/u)
    return true
  })
  assert.ok(lines.some((text) => /^error .*TypeError: a secret of the worker/su.test(text)))
  assert.equal((await analyze(pool, 'fine')).width, 4)
})

test('more calls than may wait are refused at once, and so are more bytes', async () => {
  await using pool = open({ queuePerWorkerMax: 2, queueBytesMax: 100 })
  await pool.ready()
  const running = analyze(pool, 'sleep 300')
  const waiting = [analyze(pool, 'one'), analyze(pool, 'x'.repeat(90))]
  await assert.rejects(analyze(pool, 'three'), isOverloaded)
  assert.deepEqual([pool.stats().queued, pool.stats().queuedBytes], [2, 93])
  await Promise.all([running, ...waiting])

  const again = analyze(pool, 'sleep 300')
  await assert.rejects(analyze(pool, 'x'.repeat(101)), isOverloaded)
  await again
})

test('a call that would wait too long is refused', async () => {
  await using pool = open({ queueWaitMsMax: 50 })
  await pool.ready()
  const running = analyze(pool, 'sleep 500')
  await assert.rejects(analyze(pool, 'fine'), isOverloaded)
  assert.equal(pool.stats().queued, 0)
  await running
})

test('a client that goes away while it waits gives up its place; a running call finishes', async () => {
  await using pool = open()
  await pool.ready()
  const client = new AbortController()
  const running = analyze(pool, 'sleep 200', { signal: client.signal })
  const waiting = analyze(pool, 'exit', { signal: client.signal })
  client.abort(new Error('gone'))
  await assert.rejects(waiting, /gone/u)
  assert.equal(pool.stats().queued, 0)
  assert.equal((await running).width, 'sleep 200'.length)
  await assert.rejects(analyze(pool, 'fine', { signal: client.signal }), /gone/u)
  assert.equal(pool.stats().respawns, 0)
})

test('a worker that has done its share is replaced, and no call is lost', async () => {
  const patient = { queuePerWorkerMax: 100, queueWaitMsMax: 20_000 }
  await using pool = open({ workers: 2, workerJobsMax: 10, ...patient })
  await waitUntil(() => pool.stats().workersUp === 2)
  const originals = await Promise.all([analyze(pool, 'sleep 50'), analyze(pool, 'sleep 50')])
  const views = await Promise.all(Array.from({ length: 80 }, () => analyze(pool, 'sleep 5')))
  assert.equal(views.length, 80)
  await waitUntil(() => !originals.some(({ height }) => isRunning(height)))
  assert.equal((await analyze(pool, 'fine')).width, 4)
  assert.equal(pool.stats().respawns, 0)
})

test('a worker that has grown is replaced', async () => {
  await using pool = open({ workerWarmUpJobs: 2 })
  const first = await analyze(pool, 'fine')
  await analyze(pool, 'fine')
  await analyze(pool, 'grow')
  await waitUntil(() => pool.stats().recycled === 1)
  assert.notEqual((await analyze(pool, 'fine')).height, first.height)
})

test('a pool that drains answers what it accepted and refuses the rest', async () => {
  await using pool = open()
  const accepted = [analyze(pool, 'sleep 50'), analyze(pool, 'fine')]
  const drained = pool.drain()
  await assert.rejects(analyze(pool, 'fine'), isOverloaded)
  assert.equal(pool.isReady(), false)
  await drained
  const states = await Promise.allSettled(accepted)
  assert.ok(states.every(({ status }) => status === 'fulfilled'))
})

test('a pool that closes answers 503 to everybody and leaves no process', async () => {
  const pool = open({ queueWaitMsMax: 20_000 })
  const { height: pid } = await analyze(pool, 'fine')
  const calls = [analyze(pool, 'hang'), analyze(pool, 'fine')]
  const refused = calls.map((call) => assert.rejects(call, isOverloaded))
  await pool.close()
  await Promise.all(refused)
  assert.equal(isRunning(pid), false)
  await pool.close()
})

test('a pool can be closed while its workers start', async () => {
  const { lines, log } = createRecordingLog()
  const pool = open({ modelsFolder: 'slow', log })
  const ready = assert.rejects(pool.ready(), /closed/u)
  await pool.close()
  await ready
  assert.deepEqual(lines, [])
})
