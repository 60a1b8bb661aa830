import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { limitHeaders, takeToken, type RateLimits } from './token-bucket.ts'

const startUs = 1.7e15
const limits = fc.record({
  sustainedPerS: fc.integer({ min: 1, max: 10_000 }),
  burst: fc.integer({ min: 1, max: 200 }),
})
const gapsUs = fc.array(fc.integer({ min: 0, max: 2_000_000 }), { minLength: 1, maxLength: 200 })

/** Returns the times at which calls are admitted that arrive with these gaps. */
function admissionTimesUs(limit: RateLimits, gaps: readonly number[]): number[] {
  const admitted: number[] = []
  let fullAtUs: number | null = null
  let nowUs = startUs
  for (const gap of gaps) {
    nowUs += gap
    const tokens = takeToken(limit, fullAtUs, nowUs)
    fullAtUs = tokens.fullAtUs
    if (tokens.isAllowed) admitted.push(nowUs)
  }
  return admitted
}

test('No time window admits more calls than the burst plus the rate times its length', () => {
  fc.assert(
    fc.property(limits, gapsUs, (limit, gaps) => {
      const admitted = admissionTimesUs(limit, gaps)
      for (const [first, fromUs] of admitted.entries())
        for (const [following, toUs] of admitted.slice(first).entries()) {
          const callsMax = limit.burst + (limit.sustainedPerS * (toUs - fromUs)) / 1e6
          assert.ok(following + 1 <= callsMax + 1e-6)
        }
    }),
    { numRuns: 500 },
  )
})

test('Two servers whose clocks differ by less than a second admit no more calls than one server', () => {
  const lowLimits = fc.record({
    sustainedPerS: fc.integer({ min: 5, max: 50 }),
    burst: fc.integer({ min: 1, max: 10 }),
  })
  const calls = fc.array(
    fc.record({ gapUs: fc.integer({ min: 0, max: 20_000 }), isAhead: fc.boolean() }),
    { minLength: 100, maxLength: 300 },
  )
  fc.assert(
    fc.property(
      lowLimits,
      calls,
      fc.integer({ min: 0, max: 900_000 }),
      (limit, arrivals, aheadUs) => {
        let fullAtUs: number | null = null
        let nowUs = startUs
        let admitted = 0
        for (const { gapUs, isAhead } of arrivals) {
          nowUs += gapUs
          const tokens = takeToken(limit, fullAtUs, isAhead ? nowUs + aheadUs : nowUs)
          fullAtUs = tokens.fullAtUs
          if (tokens.isAllowed) admitted++
        }
        const elapsedUs = nowUs - startUs + aheadUs
        assert.ok(admitted <= limit.burst + (limit.sustainedPerS * elapsedUs) / 1e6 + 1e-6)
      },
    ),
  )
})

test('Calls at the sustained rate are never rejected', () => {
  fc.assert(
    fc.property(limits, fc.array(fc.integer({ min: 0, max: 1000 })), (limit, delaysUs) => {
      const intervalUs = Math.ceil(1e6 / limit.sustainedPerS)
      const gaps = delaysUs.map((delay) => intervalUs + delay)
      assert.equal(admissionTimesUs(limit, gaps).length, gaps.length)
    }),
  )
})

test('A rejected call reduces neither the burst nor the sustained rate', () => {
  fc.assert(
    fc.property(limits, gapsUs, fc.integer({ min: 1, max: 50 }), (limit, gaps, retries) => {
      let fullAtUs: number | null = null
      let nowUs = startUs
      for (const gap of gaps) {
        nowUs += gap
        const tokens = takeToken(limit, fullAtUs, nowUs)
        fullAtUs = tokens.fullAtUs
        if (tokens.isAllowed) continue
        let retried = tokens
        for (let retry = 0; retry < retries; retry++)
          retried = takeToken(limit, retried.fullAtUs, nowUs)
        assert.deepEqual(retried, tokens)
      }
    }),
  )
})

test('After a clock was set back, the next token comes after at most one interval', () => {
  const limit = { sustainedPerS: 1, burst: 20 }
  const { fullAtUs } = takeToken(limit, null, startUs + 3_600e6)
  const afterStep = takeToken(limit, fullAtUs, startUs)
  assert.equal(afterStep.isAllowed, false)
  assert.equal(afterStep.retryAfterS, 1)
  assert.equal(takeToken(limit, afterStep.fullAtUs, startUs + 1e6).isAllowed, true)
})

test('The headers contain the remaining tokens and the reset time', () => {
  const limit = { sustainedPerS: 2, burst: 2 }
  const first = takeToken(limit, null, startUs)
  const second = takeToken(limit, first.fullAtUs, startUs)
  const third = takeToken(limit, second.fullAtUs, startUs)
  assert.deepEqual(limitHeaders(first), {
    'ratelimit-limit': '2',
    'ratelimit-remaining': '1',
    'ratelimit-reset': '1',
    'ratelimit-policy': '2;w=1;burst=2',
  })
  assert.equal(second.isAllowed, true)
  assert.deepEqual(limitHeaders(third), {
    'ratelimit-limit': '2',
    'ratelimit-remaining': '0',
    'ratelimit-reset': '1',
    'ratelimit-policy': '2;w=1;burst=2',
  })
})
