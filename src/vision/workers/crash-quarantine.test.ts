import assert from 'node:assert/strict'
import { test } from 'node:test'

import { createCrashQuarantine } from './crash-quarantine.ts'

const options = { crashesMax: 2, retentionMs: 600_000, key: new Uint8Array(32), clock: () => 0 }

test('the second kill makes a picture poison, and only that picture', () => {
  const poison = createCrashQuarantine(options)
  poison.recordCrash('AAAA')
  poison.assertNotQuarantined('AAAA', 'image')
  poison.recordCrash('AAAA')
  assert.throws(() => poison.assertNotQuarantined('AAAA', 'image'), { code: 'INVALID_REQUEST' })
  poison.assertNotQuarantined('AAAB', 'image')
  assert.equal(poison.rejectedCount(), 1)
})

test('ten minutes after its last kill a picture is forgotten', () => {
  let nowMs = 0
  const poison = createCrashQuarantine({ ...options, clock: () => nowMs })
  poison.recordCrash('AAAA')
  nowMs = 599_999
  poison.recordCrash('AAAA')
  nowMs = 1_199_998
  assert.throws(() => poison.assertNotQuarantined('AAAA', 'image'))
  nowMs += 1
  poison.assertNotQuarantined('AAAA', 'image')
  poison.recordCrash('AAAA')
  poison.assertNotQuarantined('AAAA', 'image')
})

test('a thousand later suspects push the first one out', () => {
  const poison = createCrashQuarantine(options)
  poison.recordCrash('AAAA')
  poison.recordCrash('AAAA')
  for (let nth = 0; nth < 999; nth += 1) poison.recordCrash(`other ${nth}`)
  assert.throws(() => poison.assertNotQuarantined('AAAA', 'image'))
  poison.recordCrash('one more')
  poison.assertNotQuarantined('AAAA', 'image')
})
