import assert from 'node:assert/strict'
import { setImmediate as nextTick } from 'node:timers/promises'
import { test } from 'node:test'
import { createKeyedQueue, takePlace } from './keyed-queue.ts'

test('work with one key runs in order, work with another key runs concurrently, also after a failure', async () => {
  const enqueue = createKeyedQueue({ waitingMax: 1000, detail: 'full' })
  const events: string[] = []
  const work = (name: string, fails = false) =>
    enqueue(name.charAt(0), async () => {
      events.push(`${name} starts`)
      await nextTick()
      events.push(`${name} ends`)
      if (fails) throw new Error(name)
      return name
    })
  const results = await Promise.allSettled([work('a1', true), work('a2'), work('b1')])
  assert.deepEqual(
    results.map(({ status }) => status),
    ['rejected', 'fulfilled', 'fulfilled'],
  )
  assert.ok(events.indexOf('a1 ends') < events.indexOf('a2 starts'))
  assert.ok(events.indexOf('b1 starts') < events.indexOf('a1 ends'))
})

test('a queue with a thousand entries rejects further work with 503', async () => {
  const enqueue = createKeyedQueue({ waitingMax: 1000, detail: 'full' })
  const held = Promise.withResolvers<void>()
  const waiting = Array.from({ length: 1000 }, () => enqueue('a', () => held.promise))
  await assert.rejects(
    enqueue('a', () => held.promise),
    { status: 503 },
  )
  held.resolve()
  await Promise.all(waiting)
  assert.equal(await enqueue('a', async () => 1), 1)
})

test('two of four run, a failure frees a place, and work whose client disconnects does not start', async () => {
  const enqueue = createKeyedQueue({ runningMax: 2, waitingMax: 4, detail: 'full' })
  const client = new AbortController()
  const started: string[] = []
  const held = new Map<string, PromiseWithResolvers<void>>()
  const begin = (name: string, signal?: AbortSignal) => {
    const end = Promise.withResolvers<void>()
    held.set(name, end)
    const result = enqueue(
      'a',
      async () => {
        started.push(name)
        await end.promise
      },
      { signal },
    )
    return Promise.allSettled([result])
  }
  const one = begin('one')
  const two = begin('two')
  const left = begin('left', client.signal)
  const three = begin('three')
  await assert.rejects(
    enqueue('a', async () => {}),
    { status: 503 },
  )
  client.abort()
  const [{ reason }] = (await left) as [PromiseRejectedResult]
  assert.equal(reason.status, 499)
  held.get('one')?.reject(new Error('one'))
  await one
  await nextTick()
  assert.deepEqual(started, ['one', 'two', 'three'])
  held.get('two')?.resolve()
  held.get('three')?.resolve()
  await Promise.all([two, three])
  assert.equal(await enqueue('a', async () => 1), 1)
})

test('work of several owners runs in turn, and one owner cannot use the places of another', async () => {
  const enqueue = createKeyedQueue({ waitingMax: 3, detail: 'full' })
  const held = Promise.withResolvers<void>()
  const started: string[] = []
  const begin = (owner: string, name: string) =>
    enqueue(
      'a',
      async () => {
        started.push(name)
        await held.promise
      },
      { owner },
    )
  const many = ['v1', 'v2', 'v3'].map((name) => begin('viewer', name))
  await assert.rejects(begin('viewer', 'v4'), { status: 503 })
  const others = [begin('owner', 'o1'), begin('owner', 'o2'), begin('admin', 'a1')]
  held.resolve()
  await Promise.all([...many, ...others])
  assert.deepEqual(started, ['v1', 'v2', 'o1', 'a1', 'v3', 'o2'])
  assert.equal(await enqueue('a', async () => 1, { owner: 'viewer' }), 1)
})

test('work that fails before it returns a promise frees its place', async () => {
  const enqueue = createKeyedQueue({ waitingMax: 2, detail: 'full' })
  const fail = () => {
    throw new Error('fails')
  }
  await assert.rejects(enqueue('a', fail), /fails/u)
  assert.equal(await enqueue('a', async () => 1), 1)
})

test('work that waits for the longest time is rejected with 503, work that started runs on', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const queue = createKeyedQueue({ waitingMax: 3, waitMsMax: 5000, detail: 'full' })
  const free = await takePlace(queue, 'a')
  const refused = assert.rejects(takePlace(queue, 'a'), { status: 503 })
  t.mock.timers.tick(4999)
  const next = takePlace(queue, 'a')
  t.mock.timers.tick(1)
  await refused
  free()
  const freeNext = await next
  t.mock.timers.tick(5000)
  freeNext()
  await takePlace(queue, 'a').then((freeLast) => freeLast())
})
