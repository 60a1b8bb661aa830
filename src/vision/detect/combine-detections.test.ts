import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assert as check, double, property } from 'fast-check'
import { combineDetections, combinedConfidence } from './combine-detections.ts'

const box = (x: number) => ({ x, y: 0, width: 100, height: 120 })
const eyes = [
  { x: 30, y: 40 },
  { x: 70, y: 40 },
] as const
const score = double({ min: 0, max: 1, noNaN: true })

test('The confidence reaches 0.6 exactly if the rule for the two detectors is met', () => {
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

test('The confidence never decreases when a score increases, and stays within 0 and 1', () => {
  check(
    property(score, score, score, (a, b, ssd) => {
      const [low, high] = a < b ? [a, b] : [b, a]
      assert.ok(combinedConfidence(low, ssd) <= combinedConfidence(high, ssd))
      assert.ok(combinedConfidence(ssd, low) <= combinedConfidence(ssd, high))
      assert.ok(combinedConfidence(a, b) >= 0 && combinedConfidence(a, b) <= 1)
    }),
  )
})

test('A face found by both detectors has the same box as when only BlazeFace runs', () => {
  const blaze = [{ box: box(0), score: 0.9 }]
  const combined = combineDetections(blaze, [{ box: box(20), score: 0.99 }])
  assert.equal(combined.length, 1)
  assert.deepEqual(combined[0]?.box, combineDetections(blaze, [])[0]?.box)
})

test('A face with a low BlazeFace score has the box of the SSD and no eyes', () => {
  const blaze = [{ box: box(0), score: 0.1, eyes }]
  const [face] = combineDetections(blaze, [{ box: box(20), score: 0.9 }])
  assert.deepEqual(face?.box, box(20))
  assert.equal(face.eyes, undefined)
})

test('A face with the box of BlazeFace has its eyes, whether the SSD finds it or not', () => {
  const blaze = [{ box: box(0), score: 0.9, eyes }]
  for (const ssd of [[], [{ box: box(20), score: 0.99 }]])
    assert.deepEqual(combineDetections(blaze, ssd)[0]?.eyes, eyes)
})

test('One SSD candidate does not confirm two BlazeFace candidates', () => {
  const faces = combineDetections(
    [
      { box: box(0), score: 0.3 },
      { box: box(55), score: 0.3 },
    ],
    [{ box: box(20), score: 0.9 }],
  )
  assert.equal(faces.filter(({ confidence }) => confidence >= 0.6).length, 1)
})
