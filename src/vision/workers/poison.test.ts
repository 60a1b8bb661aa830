import assert from 'node:assert/strict'
import { test } from 'node:test'

import { createPoisonMemory } from './poison.ts'

const options = { killsMax: 2, memoryMs: 600_000, key: new Uint8Array(32), clock: () => 0 }

test('the second kill makes a picture poison, and only that picture', () => {
  const poison = createPoisonMemory(options)
  poison.strike('AAAA')
  poison.refuse('AAAA', 'image')
  poison.strike('AAAA')
  assert.throws(() => poison.refuse('AAAA', 'image'), { code: 'INVALID_REQUEST' })
  poison.refuse('AAAB', 'image')
  assert.equal(poison.refusedCount(), 1)
})

test('ten minutes after its last kill a picture is forgotten', () => {
  let nowMs = 0
  const poison = createPoisonMemory({ ...options, clock: () => nowMs })
  poison.strike('AAAA')
  nowMs = 599_999
  poison.strike('AAAA')
  nowMs = 1_199_998
  assert.throws(() => poison.refuse('AAAA', 'image'))
  nowMs += 1
  poison.refuse('AAAA', 'image')
  poison.strike('AAAA')
  poison.refuse('AAAA', 'image')
})

test('a thousand later suspects push the first one out', () => {
  const poison = createPoisonMemory(options)
  poison.strike('AAAA')
  poison.strike('AAAA')
  for (let nth = 0; nth < 999; nth += 1) poison.strike(`other ${nth}`)
  assert.throws(() => poison.refuse('AAAA', 'image'))
  poison.strike('one more')
  poison.refuse('AAAA', 'image')
})
