import assert from 'node:assert/strict'
import { test } from 'node:test'

import { createWorkerQueue } from './worker-queue.ts'

const limits = { countMax: 4, bytesMax: 100, waitMsMax: 20_000 }
const callOf = (projectId: string) => ({ projectId, bytes: 1 })

function openQueue() {
  const stopped: object[] = []
  const queue = createWorkerQueue<object>(limits, (worker) => void stopped.push(worker))
  return { queue, stopped }
}

test('A worker is assigned to one call after another, with projects in rotation', async () => {
  const { queue } = openQueue()
  const worker = {}
  const order: string[] = []
  const calls = ['a', 'a', 'b'].map(async (projectId) => {
    const assigned = await queue.acquire(callOf(projectId))
    order.push(projectId)
    queue.release(assigned)
  })
  queue.release(worker)
  await Promise.all(calls)
  assert.deepEqual(order, ['a', 'b', 'a'])
  assert.equal(await queue.acquire(callOf('c')), worker)
})

test('A retired worker is stopped immediately if it is free, otherwise after its call', async () => {
  const { queue, stopped } = openQueue()
  const [free, busy] = [{ name: 'free' }, { name: 'busy' }]
  queue.release(busy)
  await queue.acquire(callOf('a'))
  queue.release(free)

  queue.retire(free)
  queue.retire(busy)
  assert.deepEqual(stopped, [free])
  queue.release(busy)
  assert.deepEqual(stopped, [free, busy])
})

test('A removed worker is not assigned to any call', async () => {
  const { queue } = openQueue()
  const [lost, running] = [{ name: 'lost' }, { name: 'running' }]
  queue.release(lost)
  queue.remove(lost)
  queue.release(running)
  assert.equal(await queue.acquire(callOf('a')), running)
})

test('A call that is evicted by another project is rejected immediately', async () => {
  const { queue } = openQueue()
  const calls = Array.from({ length: 4 }, () => queue.acquire(callOf('a')))
  const other = queue.acquire(callOf('b'))
  await assert.rejects(calls.pop() ?? assert.fail(), { status: 503 })
  const rejected = [...calls, other].map((waiting) => assert.rejects(waiting, { status: 503 }))
  queue.rejectAll()
  await Promise.all(rejected)
  assert.deepEqual([queue.count(), queue.bytes()], [0, 0])
})
