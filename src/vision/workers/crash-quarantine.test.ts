import assert from 'node:assert/strict'
import { test } from 'node:test'

import { createCrashQuarantine } from './crash-quarantine.ts'

const options = { crashesMax: 2, retentionMs: 600_000, key: new Uint8Array(32), clock: () => 0 }

test('The second crash quarantines an image, and only that image', () => {
  const quarantine = createCrashQuarantine(options)
  quarantine.recordCrash('AAAA')
  quarantine.assertNotQuarantined('AAAA', 'image')
  quarantine.recordCrash('AAAA')
  assert.throws(() => quarantine.assertNotQuarantined('AAAA', 'image'), { code: 'INVALID_REQUEST' })
  quarantine.assertNotQuarantined('AAAB', 'image')
  assert.equal(quarantine.rejectedCount(), 1)
})

test('An image is accepted again ten minutes after its last crash', () => {
  let nowMs = 0
  const quarantine = createCrashQuarantine({ ...options, clock: () => nowMs })
  quarantine.recordCrash('AAAA')
  nowMs = 599_999
  quarantine.recordCrash('AAAA')
  nowMs = 1_199_998
  assert.throws(() => quarantine.assertNotQuarantined('AAAA', 'image'))
  nowMs += 1
  quarantine.assertNotQuarantined('AAAA', 'image')
  quarantine.recordCrash('AAAA')
  quarantine.assertNotQuarantined('AAAA', 'image')
})

test('The oldest of more than a thousand records is deleted', () => {
  const quarantine = createCrashQuarantine(options)
  quarantine.recordCrash('AAAA')
  quarantine.recordCrash('AAAA')
  for (let nth = 0; nth < 999; nth += 1) quarantine.recordCrash(`other ${nth}`)
  assert.throws(() => quarantine.assertNotQuarantined('AAAA', 'image'))
  quarantine.recordCrash('one more')
  quarantine.assertNotQuarantined('AAAA', 'image')
})
