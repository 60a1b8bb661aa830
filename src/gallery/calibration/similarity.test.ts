import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assert as check, double, float32Array, integer, property, record } from 'fast-check'
import type { Template } from '../../vision/image-analysis.ts'
import { calibrationOf } from './calibrations.ts'
import {
  autoThreshold,
  calibratedFmrs,
  fmrAt,
  matchLevelOf,
  scoreAt,
  scoreOf,
  similarityAt,
  similarityAtFmr,
  similarityOf,
} from './similarity.ts'

const modelId = 'dlib-faceres-256@1'
const calibration = calibrationOf(modelId)
assert.ok(calibration, 'a table ships for the built-in templates')
const { points, lowestScore, identicalScore } = calibration

const score = double({ min: lowestScore - 5, max: identicalScore + 5, noNaN: true })
const share = double({ min: 0, max: 1, noNaN: true })
const template = record({
  modelId: integer().map(() => modelId),
  vector: float32Array({ minLength: 8, maxLength: 8, min: -2, max: 2, noNaN: true }),
  density: double({ min: -4, max: 0, noNaN: true }),
})

const near = (actual: number, expected: number): void =>
  assert.ok(Math.abs(actual - expected) < 1e-9, `${actual} is not ${expected}`)

test('the shipped table has a score for every rate, rising as the rates fall', () => {
  assert.deepEqual(
    points.map(({ fmr }) => fmr),
    calibratedFmrs,
  )
  const scores = [lowestScore, ...points.map((point) => point.score), identicalScore]
  assert.deepEqual(
    scores,
    [...new Set(scores)].toSorted((a, b) => a - b),
  )
  assert.match(calibration.measuredOn, /^\d{4}-\d\d-\d\d$/u)
})

test('the anchors are exact: 0.70 is one false match in a thousand, and so on', () => {
  const promised = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95]
  for (const [index, { fmr, score: at }] of points.entries()) {
    near(similarityAt(at, calibration), promised[index] ?? Number.NaN)
    near(scoreAt(promised[index] ?? Number.NaN, calibration), at)
    near(fmrAt(promised[index] ?? Number.NaN) / fmr, 1)
    near(similarityAtFmr(fmr), promised[index] ?? Number.NaN)
  }
})

test('similarity is within 0..1 and never falls as the score rises', () => {
  check(
    property(score, score, (a, b) => {
      const [low, high] = [Math.min(a, b), Math.max(a, b)]
      const [from, to] = [similarityAt(low, calibration), similarityAt(high, calibration)]
      assert.ok(from >= 0 && from <= to && to <= 1)
    }),
  )
})

test('a similarity and its score stand for each other', () => {
  check(property(share, (s) => near(similarityAt(scoreAt(s, calibration), calibration), s)))
})

test('a rate and its similarity stand for each other, as far as tables reach', () => {
  check(
    property(double({ min: 0, max: 0.95, noNaN: true }), (s) => near(similarityAtFmr(fmrAt(s)), s)),
  )
  near(Math.log10(fmrAt(0.99)), -6)
})

test('the order of two faces does not matter', () => {
  check(
    property(template, template, (a, b) => {
      assert.equal(scoreOf(a, b), scoreOf(b, a))
      assert.equal(similarityOf(a, b, calibration), similarityOf(b, a, calibration))
    }),
  )
})

test('a face is identical to itself, even one that looks like everybody', () => {
  check(property(template, (a) => assert.equal(similarityOf(a, { ...a }, calibration), 1)))
})

test('a denser neighbourhood lowers the score, a greater distance too', () => {
  check(
    property(template, template, (a, b) => {
      const denser: Template = { ...b, density: b.density + 0.5 }
      near(scoreOf(a, b) - scoreOf(a, denser), 0.25)
      const farther: Template = {
        ...b,
        vector: b.vector.map((value, i) => 2 * value - (a.vector[i] ?? 0)),
      }
      assert.ok(scoreOf(a, farther) <= scoreOf(a, b))
    }),
  )
})

test('templates and tables of different models do not mix', () => {
  const a = { modelId, vector: new Float32Array(8), density: 0 }
  assert.throws(() => scoreOf(a, { ...a, modelId: 'other@1' }), /do not compare/u)
  const other = { ...a, modelId: 'other@1' }
  assert.throws(() => similarityOf(other, other, calibration), /for this model/u)
  assert.equal(calibrationOf('other@1'), undefined)
})

test('match levels begin at their anchors', () => {
  const levels = [0, 0.699, 0.7, 0.799, 0.8, 0.899, 0.9, 0.949, 0.95, 1].map(matchLevelOf)
  const expected = ['none', 'none', 'low', 'low', 'medium', 'medium', 'high', 'high']
  assert.deepEqual(levels, [...expected, 'veryHigh', 'veryHigh'])
})

test('the automatic threshold follows the size of the gallery from 0.80 to 0.95', () => {
  const thresholds = [0, 1, 100, 1000, 10_000, 1_000_000].map(autoThreshold)
  for (const [index, expected] of [0.8, 0.8, 0.8, 0.9, 0.95, 0.95].entries())
    near(thresholds[index] ?? Number.NaN, expected)
})
