import assert from 'node:assert/strict'
import { test } from 'node:test'
import { attemptsMax, pauseMs, pendingMsMax, retryWaitMs } from './retry-schedule.ts'

const hourMs = 3_600_000
const steady = { firstWaitMs: 10_000, random: () => 0.5 }

/** The time from the first attempt to the last one. */
function attemptsLastMs(random: () => number): number {
  const waits = Array.from({ length: attemptsMax - 1 }, (_, index) =>
    retryWaitMs(index + 1, { ...steady, random }),
  )
  return waits.reduce((sum, wait) => sum + wait, 0)
}

test('The waits grow by four, from ten seconds to six hours', () => {
  const waits = [1, 2, 3, 4, 5, 6, 7, 11].map((attempts) => retryWaitMs(attempts, steady) / 1000)
  assert.deepEqual(waits, [10, 40, 160, 640, 2560, 10_240, 21_600, 21_600])
})

test('The attempts of an event last more than 24 hours and less than the maximum time', () => {
  assert.ok(attemptsLastMs(() => 0) > 24 * hourMs)
  assert.ok(attemptsLastMs(() => 1) < pendingMsMax)
  assert.equal(pendingMsMax, 72 * hourMs)
})

test('A wait varies by a tenth', () => {
  assert.equal(retryWaitMs(1, { ...steady, random: () => 0 }), 9000)
  assert.equal(retryWaitMs(1, { ...steady, random: () => 1 }), 11_000)
})

test('The pause of a webhook grows to ten minutes', () => {
  assert.deepEqual(
    [1, 2, 3, 4, 50].map((failures) => pauseMs(failures, steady) / 1000),
    [10, 40, 160, 600, 600],
  )
})
