import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'

import { readConfig } from '../../../src/config.ts'
import { ActionError, HttpError } from '../../../src/lib/errors.ts'
import {
  analyze,
  isOverloaded,
  isRunning,
  createRecordingLog,
  openFaultyPool,
  waitUntil,
} from '../../support/vision/faulty-pool.ts'

test('An analysis crosses the process border unchanged', async () => {
  await using pool = openFaultyPool()
  const analysis = await analyze(pool, 'fine')
  assert.equal(analysis.width, 'fine'.length)
  const stages = 'decode detect landmarks align embed liveness attributes picture'.split(' ')
  assert.deepEqual(analysis.timingsMs, Object.fromEntries(stages.map((stage) => [stage, 0])))
})

test('An image of 8 MiB reaches the worker completely', async () => {
  await using pool = openFaultyPool()
  const bytes = 'A'.repeat(Math.ceil((8 * 1024 * 1024) / 3) * 4)
  const analysis = await analyze(pool, bytes)
  assert.equal(analysis.width, bytes.length)
})

test('An ActionError crosses the process border with its code and all messages', async () => {
  await using pool = openFaultyPool()
  await assert.rejects(analyze(pool, 'actionError'), (error) => {
    assert.ok(error instanceof ActionError)
    assert.deepEqual(
      error.problems,
      ['one', 'two'].map((text) => ({
        code: 'IMAGE_DECODE_FAILED',
        message: `params.images[0]: ${text}`,
        path: 'params.images[0]',
        imageIndex: 0,
        hint: 'Send the complete file as the camera wrote it.',
      })),
    )
    return true
  })
  assert.equal(pool.stats().respawns, 0)
})

test('An unexpected error in a worker is logged and its details are hidden from the caller', async () => {
  const { lines, log } = createRecordingLog()
  await using pool = openFaultyPool({ log })
  await assert.rejects(analyze(pool, 'unexpectedError'), (error) => {
    assert.ok(error instanceof Error && !(error instanceof HttpError))
    assert.doesNotMatch(String(error.stack), /secret/u)
    return true
  })
  assert.ok(lines.some((text) => /^error .*TypeError: a secret of the worker/su.test(text)))
  assert.equal((await analyze(pool, 'fine')).width, 4)
})

test('A worker whose memory is exhausted is replaced, and its call can be sent again', async () => {
  await using pool = openFaultyPool()
  const first = (await analyze(pool, 'fine')).height
  await assert.rejects(analyze(pool, 'exhaustMemory'), (error) => {
    assert.ok(error instanceof HttpError)
    assert.deepEqual([error.status, error.headers['retry-after']], [503, '1'])
    return true
  })
  // The height of the faulty worker's analysis is its process id.
  assert.notEqual((await analyze(pool, 'fine')).height, first)
  assert.equal(pool.workerReports()[0]?.lastReason, 'its memory was exhausted')
})

test('Calls that exceed the queue limit for calls or for bytes are rejected immediately', async () => {
  await using pool = openFaultyPool({ queuePerWorkerMax: 2, queueBytesMax: 100 })
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

test('The default queue of one worker holds two bursts of the largest images and two full batches', async () => {
  const { RATE_BURST, IMAGE_BYTES_MAX, BODY_BYTES_MAX } = readConfig({})
  await using pool = openFaultyPool()
  const imageOf = (length: number) => ({ bytes: 'A'.repeat(length) })
  const single = [imageOf(Math.ceil(IMAGE_BYTES_MAX / 3) * 4)]
  const batch = Array.from({ length: 10 }, () => imageOf(BODY_BYTES_MAX / 10))
  const calls = [...Array.from({ length: 2 * RATE_BURST }, () => single), batch, batch]
  const reservations = calls.map((images) =>
    pool.reserve(images, { accountId: 'account', projectId: 'project' }),
  )
  assert.equal(pool.stats().queued, 2 * RATE_BURST + 2 * 10)
  assert.throws(
    () => pool.reserve([imageOf(1)], { accountId: 'account', projectId: 'project' }),
    isOverloaded,
  )
  for (const reservation of reservations) reservation[Symbol.dispose]()
  assert.deepEqual([pool.stats().queued, pool.stats().queuedBytes], [0, 0])
})

test('The limits of the queue admit every permitted call', () => {
  const read = (environment: Record<string, string>) => () => readConfig(environment)
  assert.doesNotThrow(read({ VISION_QUEUE_PER_WORKER_MAX: '10' }))
  assert.throws(read({ VISION_QUEUE_PER_WORKER_MAX: '9' }), /VISION_QUEUE_PER_WORKER_MAX/u)
  const BODY_BYTES_MAX = '2000000'
  assert.doesNotThrow(read({ BODY_BYTES_MAX, VISION_QUEUE_BYTES_MAX: '2000000' }))
  assert.throws(
    read({ BODY_BYTES_MAX, VISION_QUEUE_BYTES_MAX: '1999999' }),
    /VISION_QUEUE_BYTES_MAX: must be at least BODY_BYTES_MAX/u,
  )
})

test('A call that waits too long is rejected', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'facegate-pool-'))
  const file = path.join(folder, 'end')
  await using pool = openFaultyPool({ queueWaitMsMax: 50 })
  await pool.ready()
  const running = analyze(pool, `waitForFile ${file}`)
  await assert.rejects(analyze(pool, 'fine'), isOverloaded)
  assert.equal(pool.stats().queued, 0)
  await writeFile(file, '')
  await running
  await rm(folder, { recursive: true })
})

test('When a client disconnects, its waiting call is dropped and its running call finishes', async () => {
  await using pool = openFaultyPool()
  await pool.ready()
  const client = new AbortController()
  const running = analyze(pool, 'sleep 200', { signal: client.signal })
  const waiting = analyze(pool, 'exit', { signal: client.signal })
  client.abort(new Error('disconnected'))
  await assert.rejects(waiting, /disconnected/u)
  assert.equal(pool.stats().queued, 0)
  assert.equal((await running).width, 'sleep 200'.length)
  await assert.rejects(analyze(pool, 'fine', { signal: client.signal }), /disconnected/u)
  assert.equal(pool.stats().respawns, 0)
})

test('A worker that reaches its job limit is replaced, and no call is lost', async () => {
  const largeQueue = { queuePerWorkerMax: 100 }
  await using pool = openFaultyPool({ workers: 2, workerJobsMax: 10, ...largeQueue })
  await waitUntil(() => pool.stats().workersUp === 2)
  const originals = await Promise.all([analyze(pool, 'sleep 50'), analyze(pool, 'sleep 50')])
  const analyses = await Promise.all(Array.from({ length: 80 }, () => analyze(pool, 'sleep 5')))
  assert.equal(analyses.length, 80)
  await waitUntil(() => !originals.some(({ height }) => isRunning(height)))
  assert.equal((await analyze(pool, 'fine')).width, 4)
  assert.equal(pool.stats().respawns, 0)
})

test('A worker that reaches its memory limit is replaced', async () => {
  await using pool = openFaultyPool({ workerWarmUpJobs: 2 })
  const [starting = assert.fail()] = pool.workerReports()
  assert.deepEqual([starting.state, starting.jobs, starting.rssBytes], ['starting', 0, null])
  const first = await analyze(pool, 'fine')
  await analyze(pool, 'fine')
  await analyze(pool, 'grow')
  await waitUntil(() => pool.stats().recycled === 1)
  const later = await analyze(pool, 'fine')
  assert.notEqual(later.height, first.height)
  const [report = assert.fail()] = pool.workerReports()
  assert.deepEqual([report.pid, report.jobs, report.restarts], [later.height, 4, 1])
  assert.match(report.lastReason ?? '', /its job or memory limit is reached/u)
  assert.ok((report.rssBytes ?? 0) > 0)
})

test('A draining pool finishes accepted calls and rejects new ones', async () => {
  await using pool = openFaultyPool()
  const accepted = [analyze(pool, 'sleep 50'), analyze(pool, 'fine')]
  const drained = pool.drain()
  await assert.rejects(analyze(pool, 'fine'), isOverloaded)
  assert.equal(pool.isReady(), false)
  await drained
  const results = await Promise.allSettled(accepted)
  assert.ok(results.every(({ status }) => status === 'fulfilled'))
})

test('A closing pool rejects all calls with 503 and leaves no process', async () => {
  const pool = openFaultyPool()
  const { height: pid } = await analyze(pool, 'fine')
  const calls = [analyze(pool, 'hang'), analyze(pool, 'fine')]
  const rejected = calls.map((call) => assert.rejects(call, isOverloaded))
  await pool.close()
  await Promise.all(rejected)
  assert.equal(isRunning(pid), false)
  await pool.close()
})

test('A pool can be closed while its workers start', async () => {
  const { lines, log } = createRecordingLog()
  const pool = openFaultyPool({ modelsFolder: 'slow', log })
  const ready = assert.rejects(pool.ready(), /closed/u)
  await pool.close()
  await ready
  assert.deepEqual(lines, [])
})
