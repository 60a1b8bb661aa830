import assert from 'node:assert/strict'
import { setImmediate as nextTick } from 'node:timers/promises'
import { test } from 'node:test'
import { createKeyedQueue } from './keyed-queue.ts'

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
