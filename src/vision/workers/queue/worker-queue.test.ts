import assert from 'node:assert/strict'
import { test } from 'node:test'

import { createWorkerQueue } from './worker-queue.ts'

const limits = { countMax: 4, bytesMax: 100, waitMsMax: 20_000 }
const call = (projectId: string) => ({ projectId, bytes: 1 })

function open() {
  const ended: object[] = []
  const turns = createWorkerQueue<object>(limits, (worker) => void ended.push(worker))
  return { turns, ended }
}

test('a worker goes from call to call, one project after the other', async () => {
  const { turns } = open()
  const worker = {}
  const order: string[] = []
  const served = ['a', 'a', 'b'].map(async (projectId) => {
    const given = await turns.acquire(call(projectId))
    order.push(projectId)
    turns.release(given)
  })
  turns.release(worker)
  await Promise.all(served)
  assert.deepEqual(order, ['a', 'b', 'a'])
  assert.equal(await turns.acquire(call('c')), worker)
})

test('a worker that is let go is ended at once when it is free, else after its call', async () => {
  const { turns, ended } = open()
  const [free, held] = [{ name: 'free' }, { name: 'held' }]
  turns.release(held)
  await turns.acquire(call('a'))
  turns.release(free)

  turns.retire(free)
  turns.retire(held)
  assert.deepEqual(ended, [free])
  turns.release(held)
  assert.deepEqual(ended, [free, held])
})

test('a worker that is no more is given to nobody', async () => {
  const { turns } = open()
  const [lost, sound] = [{ name: 'lost' }, { name: 'sound' }]
  turns.release(lost)
  turns.remove(lost)
  turns.release(sound)
  assert.equal(await turns.acquire(call('a')), sound)
})

test('a call whose place another project takes is refused at once', async () => {
  const { turns } = open()
  const calls = Array.from({ length: 4 }, () => turns.acquire(call('a')))
  const newcomer = turns.acquire(call('b'))
  await assert.rejects(calls.pop() ?? assert.fail(), { status: 503 })
  const refused = [...calls, newcomer].map((waiting) => assert.rejects(waiting, { status: 503 }))
  turns.rejectAll()
  await Promise.all(refused)
  assert.deepEqual([turns.count(), turns.bytes()], [0, 0])
})
