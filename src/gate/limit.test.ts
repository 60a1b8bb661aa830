import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { limitHeaders, takeToken, type RateLimits } from './limit.ts'

const startUs = 1.7e15
const limits = fc.record({
  sustainedPerS: fc.integer({ min: 1, max: 10_000 }),
  burst: fc.integer({ min: 1, max: 200 }),
})
const gapsUs = fc.array(fc.integer({ min: 0, max: 2_000_000 }), { minLength: 1, maxLength: 200 })

/** The moments at which calls that come with these gaps are admitted. */
function admittedUs(limit: RateLimits, gaps: readonly number[]): number[] {
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

test('no window of time ever admits more than burst + rate × its length', () => {
  fc.assert(
    fc.property(limits, gapsUs, (limit, gaps) => {
      const admitted = admittedUs(limit, gaps)
      for (const [first, fromUs] of admitted.entries())
        for (const [more, toUs] of admitted.slice(first).entries()) {
          const most = limit.burst + (limit.sustainedPerS * (toUs - fromUs)) / 1e6
          assert.ok(more + 1 <= most + 1e-6)
        }
    }),
    { numRuns: 500 },
  )
})

test('two servers, of which one is ahead by less than a second, admit no more than one would', () => {
  const few = fc.record({
    sustainedPerS: fc.integer({ min: 5, max: 50 }),
    burst: fc.integer({ min: 1, max: 10 }),
  })
  const calls = fc.array(
    fc.record({ gapUs: fc.integer({ min: 0, max: 20_000 }), isAhead: fc.boolean() }),
    { minLength: 100, maxLength: 300 },
  )
  fc.assert(
    fc.property(few, calls, fc.integer({ min: 0, max: 900_000 }), (limit, made, aheadUs) => {
      let fullAtUs: number | null = null
      let nowUs = startUs
      let admitted = 0
      for (const { gapUs, isAhead } of made) {
        nowUs += gapUs
        const tokens = takeToken(limit, fullAtUs, isAhead ? nowUs + aheadUs : nowUs)
        fullAtUs = tokens.fullAtUs
        if (tokens.isAllowed) admitted++
      }
      const mostUs = nowUs - startUs + aheadUs
      assert.ok(admitted <= limit.burst + (limit.sustainedPerS * mostUs) / 1e6 + 1e-6)
    }),
  )
})

test('who keeps to the sustained rate is never refused', () => {
  fc.assert(
    fc.property(limits, fc.array(fc.integer({ min: 0, max: 1000 })), (limit, delaysUs) => {
      const paceUs = Math.ceil(1e6 / limit.sustainedPerS)
      const gaps = delaysUs.map((delay) => paceUs + delay)
      assert.equal(admittedUs(limit, gaps).length, gaps.length)
    }),
  )
})

test('burst and sustained rate are one decision: a refusal spends neither', () => {
  fc.assert(
    fc.property(limits, gapsUs, fc.integer({ min: 1, max: 50 }), (limit, gaps, refusals) => {
      let fullAtUs: number | null = null
      let nowUs = startUs
      for (const gap of gaps) {
        nowUs += gap
        const tokens = takeToken(limit, fullAtUs, nowUs)
        fullAtUs = tokens.fullAtUs
        if (tokens.isAllowed) continue
        let asked = tokens
        for (let again = 0; again < refusals; again++)
          asked = takeToken(limit, asked.fullAtUs, nowUs)
        assert.deepEqual(asked, tokens)
      }
    }),
  )
})

test('a clock that was set back locks nobody out for longer than one interval', () => {
  const limit = { sustainedPerS: 1, burst: 20 }
  const { fullAtUs } = takeToken(limit, null, startUs + 3_600e6)
  const back = takeToken(limit, fullAtUs, startUs)
  assert.equal(back.isAllowed, false)
  assert.equal(back.retryAfterS, 1)
  assert.equal(takeToken(limit, back.fullAtUs, startUs + 1e6).isAllowed, true)
})

test('the headers count down to empty and tell when there is more', () => {
  const limit = { sustainedPerS: 2, burst: 2 }
  const first = takeToken(limit, null, startUs)
  const second = takeToken(limit, first.fullAtUs, startUs)
  const third = takeToken(limit, second.fullAtUs, startUs)
  assert.deepEqual(limitHeaders(first), {
    'ratelimit-limit': '2',
    'ratelimit-remaining': '1',
    'ratelimit-reset': '1',
  })
  assert.equal(second.isAllowed, true)
  assert.deepEqual(limitHeaders(third), {
    'ratelimit-limit': '2',
    'ratelimit-remaining': '0',
    'ratelimit-reset': '1',
    'retry-after': '1',
  })
})
