import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { ImageContentType } from '../../lib/image-types/image-types.ts'
import { createCrashQuarantine } from './crash-quarantine.ts'

const options = {
  crashesMax: 2,
  kindCrashesMax: 4,
  kindPauseMs: 30_000,
  retentionMs: 600_000,
  key: new Uint8Array(32),
  clock: () => 0,
}

/** Creates an image from one key, in the class of its size. */
const sent = (bytes: string, contentType: ImageContentType = 'image/png', keyId = 'key') => ({
  image: { bytes, contentType },
  keyId,
  path: 'image',
})

/** Creates an image without a key, of which no kind is recorded. */
const alone = (bytes: string) => ({ ...sent(bytes), keyId: undefined })

test('The second crash quarantines an image, and only that image', () => {
  const quarantine = createCrashQuarantine(options)
  quarantine.recordCrash(alone('AAAA'))
  quarantine.assertNotQuarantined(alone('AAAA'))
  quarantine.recordCrash(alone('AAAA'))
  assert.throws(() => quarantine.assertNotQuarantined(alone('AAAA')), { code: 'INVALID_REQUEST' })
  quarantine.assertNotQuarantined(alone('AAAB'))
  assert.equal(quarantine.rejectedCount(), 1)
})

test('An image is accepted again ten minutes after its last crash', () => {
  let nowMs = 0
  const quarantine = createCrashQuarantine({ ...options, clock: () => nowMs })
  quarantine.recordCrash(alone('AAAA'))
  nowMs = 599_999
  quarantine.recordCrash(alone('AAAA'))
  nowMs = 1_199_998
  assert.throws(() => quarantine.assertNotQuarantined(alone('AAAA')))
  nowMs += 1
  quarantine.assertNotQuarantined(alone('AAAA'))
  quarantine.recordCrash(alone('AAAA'))
  quarantine.assertNotQuarantined(alone('AAAA'))
})

test('The oldest of more than a thousand records is deleted', () => {
  const quarantine = createCrashQuarantine(options)
  quarantine.recordCrash(alone('AAAA'))
  quarantine.recordCrash(alone('AAAA'))
  for (let nth = 0; nth < 999; nth += 1) quarantine.recordCrash(alone(`other ${nth}`))
  assert.throws(() => quarantine.assertNotQuarantined(alone('AAAA')))
  quarantine.recordCrash(alone('one more'))
  quarantine.assertNotQuarantined(alone('AAAA'))
})

test('The fourth crash of a kind quarantines its images of one key, twice as long after each further crash', () => {
  let nowMs = 0
  const quarantine = createCrashQuarantine({ ...options, clock: () => nowMs })
  for (const letter of 'ABC') quarantine.recordCrash(sent(letter.repeat(20)))
  quarantine.assertNotQuarantined(sent('D'.repeat(20)))
  quarantine.recordCrash(sent('D'.repeat(20)))
  for (const length of [15, 254]) {
    const changed = sent('E'.repeat(length))
    const expected = { status: 503, headers: { 'retry-after': '30' } }
    assert.throws(() => quarantine.assertNotQuarantined(changed), expected)
  }
  const others = [
    sent('E'.repeat(14)),
    sent('E'.repeat(255)),
    sent('E'.repeat(20), 'image/jpeg'),
    sent('E'.repeat(20), 'image/png', 'other key'),
  ]
  for (const other of others) quarantine.assertNotQuarantined(other)

  for (const [nth, pauseMs] of [30_000, 60_000, 120_000, 240_000, 480_000, 600_000].entries()) {
    if (nth > 0) quarantine.recordCrash(sent(String(nth).repeat(20)))
    nowMs += pauseMs - 1
    assert.throws(() => quarantine.assertNotQuarantined(sent('F'.repeat(20))), { status: 503 })
    nowMs += 1
    quarantine.assertNotQuarantined(sent('F'.repeat(20)))
  }
})
