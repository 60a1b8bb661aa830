import assert from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { test } from 'node:test'
import { createKeyedQueue } from './keyed-queue.ts'

test('work of one name is done in its order, that of another beside it, whatever fails', async () => {
  const inLine = createKeyedQueue()
  const told: string[] = []
  const work = (name: string, fails = false) =>
    inLine(name.charAt(0), async () => {
      told.push(`${name} begins`)
      await nextTurn()
      told.push(`${name} ends`)
      if (fails) throw new Error(name)
      return name
    })
  const done = await Promise.allSettled([work('a1', true), work('a2'), work('b1')])
  assert.deepEqual(
    done.map(({ status }) => status),
    ['rejected', 'fulfilled', 'fulfilled'],
  )
  assert.ok(told.indexOf('a1 ends') < told.indexOf('a2 begins'))
  assert.ok(told.indexOf('b1 begins') < told.indexOf('a1 ends'))
})

test('whoever comes to a line of a thousand is told to come again', async () => {
  const inLine = createKeyedQueue()
  const held = Promise.withResolvers<void>()
  const waiting = Array.from({ length: 1000 }, () => inLine('a', () => held.promise))
  await assert.rejects(
    inLine('a', () => held.promise),
    { status: 503 },
  )
  held.resolve()
  await Promise.all(waiting)
  assert.equal(await inLine('a', async () => 1), 1)
})
