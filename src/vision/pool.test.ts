import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

import { ActionError, HttpError } from '../lib/errors.ts'
import { openPool } from './pool.ts'
import type { PoolOptions, VisionCall, VisionPool } from './pool.ts'

const entry = new URL('../../test/fixtures/faulty-worker.ts', import.meta.url)

/** What was logged, as "level message". */
let logged: { readonly text: string; readonly fields: object }[] = []
const note = (level: string) => (fields: object, message: string) =>
  void logged.push({ text: `${level} ${message}`, fields })
const log = { info: note('info'), warn: note('warn'), error: note('error') } as PoolOptions['log']

function open(options: Partial<PoolOptions> = {}): VisionPool {
  logged = []
  const limits = { bytesMax: 1, pixelsMax: 1, sideMinPx: 1 }
  return openPool({
    workers: 1,
    modelsFolder: 'any',
    limits,
    clock: () => 0,
    log,
    entry,
    ...options,
  })
}

/** Has the pool look at a picture whose text tells the worker what to do. */
function ask(pool: VisionPool, bytes: string, call: Partial<VisionCall> = {}) {
  return pool.look(
    { bytes, contentType: 'image/jpeg' },
    { minFaceConfidence: 0.5, minFaceSizePx: 1, maxFaces: 1, crops: false },
    { projectId: 'project', path: 'params.images[0]', ...call },
  )
}

const is503 = (error: unknown) =>
  error instanceof HttpError && error.status === 503 && error.headers['retry-after'] === '1'

async function until(condition: () => boolean): Promise<void> {
  const deadlineMs = Date.now() + 20_000
  while (!condition()) {
    assert.ok(Date.now() < deadlineMs, `still not: ${String(condition)}`)
    await pause(5)
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('a view crosses the border as it is', async () => {
  await using pool = open()
  const view = await ask(pool, 'fine')
  assert.equal(view.width, 'fine'.length)
  assert.deepEqual(view.timingsMs, { decode: 0, detect: 0, landmarks: 0 })
})

test('a picture of 8 MiB arrives whole', async () => {
  await using pool = open()
  const bytes = 'A'.repeat(Math.ceil((8 * 1024 * 1024) / 3) * 4)
  const view = await ask(pool, bytes)
  assert.equal(view.width, bytes.length)
})

test('an expected failure crosses the border with its code and every message', async () => {
  await using pool = open()
  await assert.rejects(ask(pool, 'problem'), (error) => {
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
  await using pool = open()
  await assert.rejects(ask(pool, 'fault'), (error) => {
    assert.ok(error instanceof Error && !(error instanceof HttpError))
    assert.doesNotMatch(String(error.stack), /secret/u)
    return true
  })
  const line = logged.find(({ text }) => text.startsWith('error'))
  assert.match(JSON.stringify(line?.fields), /TypeError: a secret of the worker/u)
  assert.equal((await ask(pool, 'fine')).width, 4)
})

/** What `test/fixtures/faulty-worker.ts` can do to itself. */
const deaths = ['abort', 'crash', 'exit', 'spin', 'hang', 'garbage', 'flood', 'twice', 'mute']

for (const fault of deaths) {
  test(`a worker that meets "${fault}" costs one call a 503 and is replaced`, async () => {
    await using pool = open({ workers: 2, jobMsMax: 1_000 })
    await pool.ready()
    await until(() => pool.stats().workersUp === 2)
    const calls = [ask(pool, fault), ask(pool, 'sleep 50'), ask(pool, 'fine'), ask(pool, 'fine')]
    const [lost, ...others] = await Promise.allSettled(calls)
    assert.ok(lost?.status === 'rejected' && is503(lost.reason), JSON.stringify(lost))
    assert.deepEqual(
      others.map(({ status }) => status),
      ['fulfilled', 'fulfilled', 'fulfilled'],
    )
    await until(() => pool.stats().workersUp === 2)
    assert.equal(pool.stats().respawns, 1)
  })
}

test('a picture that killed two workers is refused without one, until it is forgotten', async () => {
  let nowMs = 0
  await using pool = open({ clock: () => nowMs, poisonMemoryMs: 1_000 })
  await assert.rejects(ask(pool, 'exit'), is503)
  await assert.rejects(ask(pool, 'exit'), is503)
  await assert.rejects(ask(pool, 'exit'), {
    code: 'INVALID_REQUEST',
    message: /^params\.images\[0\]: this image stopped the decoder 2 times/u,
  })
  assert.equal((await ask(pool, 'fine')).width, 4)
  await assert.rejects(ask(pool, 'exit'), { code: 'INVALID_REQUEST' })
  assert.deepEqual([pool.stats().respawns, pool.stats().poisoned], [2, 2])

  nowMs = 1_000
  await assert.rejects(ask(pool, 'exit'), is503)
})

test('of many copies of a deadly picture in the queue, two reach a worker', async () => {
  await using pool = open({ queuePerWorkerMax: 5, queueWaitMsMax: 20_000 })
  const copies = await Promise.allSettled(Array.from({ length: 5 }, () => ask(pool, 'exit')))
  const reasons = copies.map((copy) => (copy.status === 'rejected' ? copy.reason.name : 'served'))
  assert.deepEqual(reasons, ['HttpError', 'HttpError', ...Array(3).fill('ActionError')])
})

test('more calls than may wait are refused at once, and so are more bytes', async () => {
  await using pool = open({ queuePerWorkerMax: 2, queueBytesMax: 100 })
  await pool.ready()
  const running = ask(pool, 'sleep 300')
  const waiting = [ask(pool, 'one'), ask(pool, 'x'.repeat(90))]
  await assert.rejects(ask(pool, 'three'), is503)
  assert.deepEqual([pool.stats().queued, pool.stats().queuedBytes], [2, 93])
  await Promise.all([running, ...waiting])

  const again = ask(pool, 'sleep 300')
  await assert.rejects(ask(pool, 'x'.repeat(101)), is503)
  await again
})

test('a call that would wait too long is refused', async () => {
  await using pool = open({ queueWaitMsMax: 50 })
  await pool.ready()
  const running = ask(pool, 'sleep 500')
  await assert.rejects(ask(pool, 'fine'), is503)
  assert.equal(pool.stats().queued, 0)
  await running
})

test('a client that goes away while it waits gives up its place; a running call finishes', async () => {
  await using pool = open()
  await pool.ready()
  const client = new AbortController()
  const running = ask(pool, 'sleep 200', { signal: client.signal })
  const waiting = ask(pool, 'exit', { signal: client.signal })
  client.abort(new Error('gone'))
  await assert.rejects(waiting, /gone/u)
  assert.equal(pool.stats().queued, 0)
  assert.equal((await running).width, 'sleep 200'.length)
  await assert.rejects(ask(pool, 'fine', { signal: client.signal }), /gone/u)
  assert.equal(pool.stats().respawns, 0)
})

test('a worker that has done its share is replaced, and no call is lost', async () => {
  const patient = { queuePerWorkerMax: 100, queueWaitMsMax: 20_000 }
  await using pool = open({ workers: 2, workerJobsMax: 10, ...patient })
  await until(() => pool.stats().workersUp === 2)
  const originals = await Promise.all([ask(pool, 'sleep 50'), ask(pool, 'sleep 50')])
  const views = await Promise.all(Array.from({ length: 80 }, () => ask(pool, 'sleep 5')))
  assert.equal(views.length, 80)
  await until(() => !originals.some(({ height }) => isRunning(height)))
  assert.equal((await ask(pool, 'fine')).width, 4)
  assert.equal(pool.stats().respawns, 0)
})

test('a worker that has grown is replaced', async () => {
  await using pool = open({ workerWarmUpJobs: 2 })
  const first = await ask(pool, 'fine')
  await ask(pool, 'fine')
  await ask(pool, 'grow')
  await until(() => pool.stats().recycled === 1)
  assert.notEqual((await ask(pool, 'fine')).height, first.height)
})

test('workers that die at every start leave the pool unready, and say so', async () => {
  await using pool = open({ modelsFolder: 'missing' })
  await assert.rejects(pool.ready(), { name: 'WorkerLost', message: /ended with code 1/u })
  assert.equal(pool.isReady(), false)
  const texts = logged.map(({ text }) => text)
  assert.ok(texts.filter((text) => text === 'error a vision worker died at its start').length >= 3)
  assert.match(JSON.stringify(logged), /no such folder/u)
})

test('a worker that does not get ready in time is given up', async () => {
  await using pool = open({ modelsFolder: 'slow', startMsMax: 100 })
  await assert.rejects(pool.ready(), /no answer within 100 ms/u)
})

test('a pool that drains answers what it accepted and refuses the rest', async () => {
  await using pool = open()
  const accepted = [ask(pool, 'sleep 50'), ask(pool, 'fine')]
  const drained = pool.drain()
  await assert.rejects(ask(pool, 'fine'), is503)
  assert.equal(pool.isReady(), false)
  await drained
  const states = await Promise.allSettled(accepted)
  assert.ok(states.every(({ status }) => status === 'fulfilled'))
})

test('a pool that closes answers 503 to everybody and leaves no process', async () => {
  const pool = open({ queueWaitMsMax: 20_000 })
  const { height: pid } = await ask(pool, 'fine')
  const calls = [ask(pool, 'hang'), ask(pool, 'fine')]
  const refused = calls.map((call) => assert.rejects(call, is503))
  await pool.close()
  await Promise.all(refused)
  assert.equal(isRunning(pid), false)
  await pool.close()
})

test('a pool can be closed while its workers start', async () => {
  const pool = open({ modelsFolder: 'slow' })
  const ready = assert.rejects(pool.ready(), /closed/u)
  await pool.close()
  await ready
})

test('when the parent is killed, its workers end themselves', async () => {
  const fixture = new URL('../../test/fixtures/pool-owner.ts', import.meta.url)
  const owner = spawn(process.execPath, [fileURLToPath(fixture)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = (await once(owner.stdout, 'data')) as [Buffer]
  const pids = JSON.parse(line.toString()) as number[]
  assert.ok(pids.length === 2 && pids.every(isRunning), 'an idle worker and a busy one')
  owner.kill('SIGKILL')
  await until(() => !pids.some(isRunning))
})

test('kill -9 amid fifty calls costs the calls in that worker, and no other', async () => {
  await using pool = open({ workers: 2, queuePerWorkerMax: 25, queueWaitMsMax: 20_000 })
  const { height: pid } = await ask(pool, 'fine')
  const calls = Array.from({ length: 50 }, (_, nth) => ask(pool, `sleep 10 ${nth}`))
  await calls[10]
  process.kill(pid, 'SIGKILL')
  const answers = await Promise.allSettled(calls)
  const lost = answers.filter((answer) => answer.status === 'rejected')
  assert.ok(lost.length <= 1 && lost.every(({ reason }) => is503(reason)))
  await until(() => pool.stats().workersUp === 2)
  assert.equal(pool.stats().respawns, 1)
})
