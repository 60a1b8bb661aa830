import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assert as check, double, property } from 'fast-check'
import { agree, confidenceOf } from './agreement.ts'

const box = (x: number) => ({ x, y: 0, width: 100, height: 120 })
const score = double({ min: 0, max: 1, noNaN: true })

test('a confidence of 0.6 is exactly the rule of the two detectors', () => {
  check(
    property(score, score, (blaze, ssd) => {
      const isFace = ssd >= 0.5 || blaze >= 0.7 || (blaze >= 0.25 && ssd >= 0.25)
      assert.equal(confidenceOf(blaze, ssd) >= 0.6, isFace)
    }),
  )
  assert.equal(confidenceOf(0, 0.5), 0.6)
  assert.equal(confidenceOf(0.7, 0), 0.6)
  assert.equal(confidenceOf(0.25, 0.25), 0.6)
})

test('confidence never falls when a score rises, and stays within 0 and 1', () => {
  check(
    property(score, score, score, (a, b, ssd) => {
      const [low, high] = a < b ? [a, b] : [b, a]
      assert.ok(confidenceOf(low, ssd) <= confidenceOf(high, ssd))
      assert.ok(confidenceOf(ssd, low) <= confidenceOf(ssd, high))
      assert.ok(confidenceOf(a, b) >= 0 && confidenceOf(a, b) <= 1)
    }),
  )
})

test('what both detectors see is one face with the box it has when only BlazeFace looks', () => {
  const blaze = [{ box: box(0), score: 0.9 }]
  const together = agree(blaze, [{ box: box(20), score: 0.99 }])
  assert.equal(together.length, 1)
  assert.deepEqual(together[0]?.box, agree(blaze, [])[0]?.box)
})

test('a face that BlazeFace hardly sees has the box of the SSD', () => {
  const [face] = agree([{ box: box(0), score: 0.1 }], [{ box: box(20), score: 0.9 }])
  assert.deepEqual(face?.box, box(20))
})

test('one answer of the SSD does not vouch for two of BlazeFace', () => {
  const faces = agree(
    [
      { box: box(0), score: 0.3 },
      { box: box(55), score: 0.3 },
    ],
    [{ box: box(20), score: 0.9 }],
  )
  assert.equal(faces.filter(({ confidence }) => confidence >= 0.6).length, 1)
})
