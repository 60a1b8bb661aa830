import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withRate } from './feedback.ts'

test('The interval of a false-match rate is the score interval of Wilson', () => {
  const expected = [
    [0, 10, 0, 0.2775],
    [1, 10, 0.0179, 0.4042],
    [5, 10, 0.2366, 0.7634],
    [10, 10, 0.7225, 1],
    [1, 1000, 0.0002, 0.0056],
    [0, 1, 0, 0.7935],
  ] as const
  for (const [denied, verdicts, low, high] of expected) {
    const { falseMatchRate } = withRate({ denied, confirmed: verdicts - denied })
    assert.equal(falseMatchRate.observed, denied / verdicts)
    const interval = [falseMatchRate.low, falseMatchRate.high].map((share) => share.toFixed(4))
    // By definition, each limit is 1.96 standard errors, computed with this limit, from the observed rate.
    for (const limit of [falseMatchRate.low, falseMatchRate.high]) {
      const standardError = Math.sqrt((limit * (1 - limit)) / verdicts)
      const distance = Math.abs(limit - falseMatchRate.observed)
      assert.ok(Math.abs(distance - 1.959964 * standardError) < 1e-6)
    }
    assert.deepEqual(interval, [low.toFixed(4), high.toFixed(4)], `${denied} of ${verdicts}`)
  }
})
