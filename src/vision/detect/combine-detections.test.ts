import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assert as check, double, property } from 'fast-check'
import { combineDetections, combinedConfidence } from './combine-detections.ts'

const box = (x: number) => ({ x, y: 0, width: 100, height: 120 })
const score = double({ min: 0, max: 1, noNaN: true })

test('a confidence of 0.6 is exactly the rule of the two detectors', () => {
  check(
    property(score, score, (blaze, ssd) => {
      const isFace = ssd >= 0.5 || blaze >= 0.7 || (blaze >= 0.25 && ssd >= 0.25)
      assert.equal(combinedConfidence(blaze, ssd) >= 0.6, isFace)
    }),
  )
  assert.equal(combinedConfidence(0, 0.5), 0.6)
  assert.equal(combinedConfidence(0.7, 0), 0.6)
  assert.equal(combinedConfidence(0.25, 0.25), 0.6)
})

test('confidence never falls when a score rises, and stays within 0 and 1', () => {
  check(
    property(score, score, score, (a, b, ssd) => {
      const [low, high] = a < b ? [a, b] : [b, a]
      assert.ok(combinedConfidence(low, ssd) <= combinedConfidence(high, ssd))
      assert.ok(combinedConfidence(ssd, low) <= combinedConfidence(ssd, high))
      assert.ok(combinedConfidence(a, b) >= 0 && combinedConfidence(a, b) <= 1)
    }),
  )
})

test('what both detectors see is one face with the box it has when only BlazeFace looks', () => {
  const blaze = [{ box: box(0), score: 0.9 }]
  const together = combineDetections(blaze, [{ box: box(20), score: 0.99 }])
  assert.equal(together.length, 1)
  assert.deepEqual(together[0]?.box, combineDetections(blaze, [])[0]?.box)
})

test('a face that BlazeFace hardly sees has the box of the SSD', () => {
  const [face] = combineDetections([{ box: box(0), score: 0.1 }], [{ box: box(20), score: 0.9 }])
  assert.deepEqual(face?.box, box(20))
})

test('one answer of the SSD does not vouch for two of BlazeFace', () => {
  const faces = combineDetections(
    [
      { box: box(0), score: 0.3 },
      { box: box(55), score: 0.3 },
    ],
    [{ box: box(20), score: 0.9 }],
  )
  assert.equal(faces.filter(({ confidence }) => confidence >= 0.6).length, 1)
})
