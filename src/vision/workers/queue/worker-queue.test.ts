import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { HttpError } from '../../../lib/errors.ts'
import { createServiceTime, WorkerQueue, type WorkerQueueOptions } from './worker-queue.ts'

const limits = { countMax: 4, bytesMax: 100, waitMsMax: 20_000 }

const opened: WorkerQueue<object>[] = []

after(() => {
  for (const queue of opened) queue.rejectAll()
})

function openQueue(options: Partial<WorkerQueueOptions<object>> = {}) {
  const stopped: object[] = []
  const queue = new WorkerQueue<object>({
    ...limits,
    stop: (worker) => void stopped.push(worker),
    estimateMs: (imageCount) => imageCount,
    ...options,
  })
  opened.push(queue)
  const reserve = (projectId: string, imageCount = 1, signal?: AbortSignal) =>
    queue.reserve(
      { accountId: projectId, projectId, imageBytes: Array<number>(imageCount).fill(1) },
      signal,
    )
  return { queue, stopped, reserve, acquire: (projectId: string) => reserve(projectId).acquire(0) }
}

test('A worker is assigned to one image after another, with accounts in rotation', async () => {
  const { queue, acquire } = openQueue()
  const worker = {}
  const order: string[] = []
  const calls = ['a', 'a', 'b'].map(async (projectId) => {
    const assigned = await acquire(projectId)
    order.push(projectId)
    queue.release(assigned)
  })
  queue.release(worker)
  await Promise.all(calls)
  assert.deepEqual(order, ['a', 'b', 'a'])
  assert.equal(await acquire('c'), worker)
})

test('A retired worker is stopped immediately if it is free, otherwise after its image', async () => {
  const { queue, stopped, acquire } = openQueue()
  const [free, busy] = [{ name: 'free' }, { name: 'busy' }]
  queue.release(busy)
  await acquire('a')
  queue.release(free)

  queue.retire(free)
  queue.retire(busy)
  assert.deepEqual(stopped, [free])
  queue.release(busy)
  assert.deepEqual(stopped, [free, busy])
})

test('A removed worker is not assigned to any image', async () => {
  const { queue, acquire } = openQueue()
  const [lost, running] = [{ name: 'lost' }, { name: 'running' }]
  queue.release(lost)
  queue.remove(lost)
  queue.release(running)
  assert.equal(await acquire('a'), running)
})

test('A call that is evicted by another account is rejected immediately', async () => {
  const { queue, acquire } = openQueue()
  const calls = Array.from({ length: 4 }, () => acquire('a'))
  const other = acquire('b')
  await assert.rejects(calls.pop() ?? assert.fail(), { status: 503 })
  const rejected = [...calls, other].map((waiting) => assert.rejects(waiting, { status: 503 }))
  queue.rejectAll()
  await Promise.all(rejected)
  assert.deepEqual([queue.size.count, queue.size.bytes], [0, 0])
})

test('A call that was evicted before it requested a worker is rejected at its first request', async () => {
  const { queue, reserve } = openQueue()
  const [kept, evicted] = [reserve('a', 2), reserve('a', 2)]
  reserve('b', 2)
  queue.release({})
  await assert.rejects(evicted.acquire(0), { status: 503 })
  await kept.acquire(0)
})

test('A call is accepted up to the limit of images, and rejected one image beyond it', () => {
  const { queue, reserve } = openQueue()
  reserve('a', 3)
  assert.throws(() => reserve('a', 2), { status: 503 })
  assert.equal(queue.size.count, 3, 'a rejected call reserves nothing')
  reserve('a', 1)
  assert.equal(queue.size.count, 4)
})

test('The end of a reservation frees its places and rejects its waiting images', async () => {
  const { queue, reserve } = openQueue()
  queue.release({})
  const call = reserve('a', 4)
  await call.acquire(0)
  const waiting = call.acquire(1)
  call[Symbol.dispose]()
  await assert.rejects(waiting, /the call has ended/u)
  assert.deepEqual([queue.size.count, queue.size.bytes], [0, 0])
  await assert.rejects(call.acquire(2), /the call has ended/u)
})

test('An aborted signal frees the places of a call and rejects its waiting images', async () => {
  const { queue, reserve } = openQueue()
  const client = new AbortController()
  const waiting = reserve('a', 2, client.signal).acquire(0)
  client.abort(new Error('disconnected'))
  await assert.rejects(waiting, /disconnected/u)
  assert.equal(queue.size.count, 0)
  assert.throws(() => reserve('a', 1, client.signal), /disconnected/u)
})

test('The wait limit applies to the whole call, from its reservation on', async () => {
  const { queue, reserve } = openQueue({ waitMsMax: 20 })
  const call = reserve('a', 3)
  queue.release({})
  await call.acquire(0)
  await assert.rejects(call.acquire(1), { status: 503, message: /the wait was too long/u })
  await assert.rejects(call.acquire(2), { status: 503 })
  assert.equal(queue.size.count, 0)
})

/** Returns Retry-After of the rejected reservation, in seconds. */
function retryAfterOf(reserve: () => unknown): number {
  try {
    reserve()
  } catch (error) {
    if (error instanceof HttpError) return Number(error.headers['retry-after'])
    throw error
  }
  return assert.fail('the call was accepted')
}

test('After Retry-After, there is room for the rejected call at the measured service time', () => {
  const serviceTime = createServiceTime()
  const serviceMs = 1_500
  for (let n = 0; n < 100; n++) serviceTime.record(serviceMs)
  const workers = [{}, {}]
  const { queue, reserve, acquire } = openQueue({
    countMax: 12,
    estimateMs: (imageCount) => serviceTime.estimateMs(imageCount, workers.length),
  })
  for (const worker of workers) queue.release(worker)
  for (let n = 0; n < workers.length + 12; n++) void acquire('a')
  const reserveFive = () => reserve('a', 5)
  const retryAfterS = retryAfterOf(reserveFive)
  const roundCount = Math.floor((retryAfterS * 1000) / serviceMs)
  for (let round = 0; round < roundCount; round++) {
    assert.ok(retryAfterOf(reserveFive) <= retryAfterS)
    for (const worker of workers) queue.release(worker)
  }
  reserveFive()
})

test('Retry-After is a whole number of seconds, at least one', () => {
  const { reserve } = openQueue({ estimateMs: (imageCount) => imageCount * 1_001 })
  reserve('a', 4)
  assert.equal(
    retryAfterOf(() => reserve('a', 1)),
    2,
  )
  assert.equal(
    retryAfterOf(() => reserve('a', 2)),
    3,
  )
  const fast = openQueue({ estimateMs: () => 0.1 })
  fast.reserve('a', 4)
  assert.equal(
    retryAfterOf(() => fast.reserve('a', 1)),
    1,
  )
})
