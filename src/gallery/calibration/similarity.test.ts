import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assert as check, double, float32Array, integer, property, record } from 'fast-check'
import type { Template } from '../../vision/embed/template.ts'
import { calibrationOf } from './calibrations.ts'
import {
  autoThreshold,
  calibratedFmrs,
  fmrAt,
  scoreAt,
  scoreOf,
  similarityAt,
  similarityAtFmr,
} from './similarity.ts'
import { similarityOf } from '../../../test/support/vision/similarity-of.ts'

const modelId = 'dlib-faceres-256@1'
const calibration = calibrationOf(modelId) ?? assert.fail('there is no built-in calibration')
const { lowestScore, identicalScore } = calibration

const scoreArbitrary = double({ min: lowestScore - 5, max: identicalScore + 5, noNaN: true })
const similarityArbitrary = double({ min: 0, max: 1, noNaN: true })
const templateArbitrary = record({
  modelId: integer().map(() => modelId),
  vector: float32Array({ minLength: 8, maxLength: 8, min: -2, max: 2, noNaN: true }),
  density: double({ min: -4, max: 0, noNaN: true }),
})

const assertNear = (actual: number, expected: number): void =>
  assert.ok(Math.abs(actual - expected) < 1e-9, `${actual} is not ${expected}`)

test('The built-in calibration has a score for every rate, rising as the rates fall', () => {
  const { points, measuredOn } = calibration
  assert.deepEqual(
    points.map(({ fmr }) => fmr),
    calibratedFmrs,
  )
  const scores = [lowestScore, ...points.map(({ score }) => score), identicalScore]
  assert.deepEqual(
    scores,
    [...new Set(scores)].toSorted((a, b) => a - b),
  )
  assert.match(measuredOn, /^\d{4}-\d\d-\d\d$/u)
})

test('The anchors are exact: 0.70 means one false match in a thousand, and so on', () => {
  const expected = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95]
  for (const [index, { fmr, score }] of calibration.points.entries()) {
    assertNear(similarityAt(score, calibration), expected[index] ?? Number.NaN)
    assertNear(scoreAt(expected[index] ?? Number.NaN, calibration), score)
    assertNear(fmrAt(expected[index] ?? Number.NaN) / fmr, 1)
    assertNear(similarityAtFmr(fmr), expected[index] ?? Number.NaN)
  }
})

test('Similarity is within 0..1 and never falls as the score rises', () => {
  check(
    property(scoreArbitrary, scoreArbitrary, (a, b) => {
      const [low, high] = [Math.min(a, b), Math.max(a, b)]
      const [from, to] = [similarityAt(low, calibration), similarityAt(high, calibration)]
      assert.ok(from >= 0 && from <= to && to <= 1)
    }),
  )
})

test('scoreAt is the inverse of similarityAt', () => {
  check(
    property(similarityArbitrary, (similarity) =>
      assertNear(similarityAt(scoreAt(similarity, calibration), calibration), similarity),
    ),
  )
})

test('fmrAt is the inverse of similarityAtFmr up to the last anchor', () => {
  check(
    property(double({ min: 0, max: 0.95, noNaN: true }), (similarity) =>
      assertNear(similarityAtFmr(fmrAt(similarity)), similarity),
    ),
  )
  assertNear(Math.log10(fmrAt(0.99)), -6)
})

test('Score and similarity are symmetric', () => {
  check(
    property(templateArbitrary, templateArbitrary, (a, b) => {
      assert.equal(scoreOf(a, b), scoreOf(b, a))
      assert.equal(similarityOf(a, b, calibration), similarityOf(b, a, calibration))
    }),
  )
})

test('A template has similarity 1 with itself, at any density', () => {
  check(property(templateArbitrary, (a) => assert.equal(similarityOf(a, { ...a }, calibration), 1)))
})

test('A higher density and a greater distance lower the score', () => {
  check(
    property(templateArbitrary, templateArbitrary, (a, b) => {
      const denser: Template = { ...b, density: b.density + 0.5 }
      assertNear(scoreOf(a, b) - scoreOf(a, denser), 0.25)
      const farther: Template = {
        ...b,
        vector: b.vector.map((value, index) => 2 * value - (a.vector[index] ?? 0)),
      }
      assert.ok(scoreOf(a, farther) <= scoreOf(a, b))
    }),
  )
})

test('Templates and calibrations of different models cannot be combined', () => {
  const a = { modelId, vector: new Float32Array(8), density: 0 }
  assert.throws(() => scoreOf(a, { ...a, modelId: 'other@1' }), /cannot be compared/u)
  assert.equal(calibrationOf('other@1'), undefined)
})

test('The automatic threshold rises with the size of the gallery from 0.80 to 0.95', () => {
  const thresholds = [0, 1, 100, 1000, 10_000, 1_000_000].map(autoThreshold)
  assert.match(String(autoThreshold(1234)), /^0\.\d{1,4}$/u, 'at most four decimals')
  for (const [index, expected] of [0.8, 0.8, 0.8, 0.9, 0.95, 0.95].entries())
    assertNear(thresholds[index] ?? Number.NaN, expected)
})
