import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  comparedCallsMin,
  describeCameraChange,
  findCameraChanges,
  type KeyDecisions,
} from './camera-changes.ts'

/** 1,000 calls, each with a face: 900 matches at 0.93 and 100 faces without one. */
const usual: KeyDecisions = {
  withoutFace: 20,
  decided: 1000,
  compared: 1000,
  unmatched: 100,
  nearMisses: 10,
  matched: 900,
  similaritySum: 900 * 9300,
  rated: 1000,
  qualitySum: 82_000,
}

const changesTo = (after: Partial<KeyDecisions>, before: Partial<KeyDecisions> = {}) =>
  findCameraChanges({ ...usual, ...before }, { ...usual, ...after })

test('Each measure that becomes worse is found with both values and a sentence', () => {
  const changes = changesTo({
    withoutFace: 220,
    unmatched: 250,
    nearMisses: 80,
    matched: 750,
    similaritySum: 750 * 8800,
    qualitySum: 64_000,
  })
  assert.deepEqual(changes.map(describeCameraChange), [
    'Calls without a face rose from 2 % to 18 %',
    'Quality of the faces fell from 82 to 64',
    'Faces without a match rose from 10 % to 25 %',
    'Near misses rose from 1 % to 8 %',
    'Similarity of matches fell from 0.93 to 0.88',
  ])
  assert.deepEqual(changes[3], { measure: 'nearMisses', before: 0.01, after: 0.08 })
})

test('An equal week and one that becomes better have no changes', () => {
  assert.deepEqual(changesTo({}), [])
  const better = { withoutFace: 0, unmatched: 0, nearMisses: 0, qualitySum: 99_000 }
  assert.deepEqual(changesTo({ ...better, matched: 1000, similaritySum: 9_900_000 }), [])
})

test('A change below its limit has no report, and one at its limit has', () => {
  assert.deepEqual(changesTo({ qualitySum: 72_001 }), [])
  assert.deepEqual(changesTo({ qualitySum: 72_000 }).length, 1)
  const before = { unmatched: 0 }
  assert.deepEqual(changesTo({ unmatched: 99 }, before), [])
  assert.equal(changesTo({ unmatched: 100 }, before).length, 1)
})

test('A measure with fewer than 50 calls in one of the periods is not compared', () => {
  assert.equal(comparedCallsMin, 50)
  const half = (rated: number) => ({ rated, qualitySum: rated * 40 })
  assert.deepEqual(changesTo(half(49)), [])
  assert.equal(changesTo(half(50)).length, 1)
  assert.deepEqual(changesTo(half(1000), half(49)), [])
})

test('A share of few calls that chance explains is not a change', () => {
  // 2 of 50 and 8 of 50 differ by 12 points and 2.0 standard errors.
  const few = (withoutFace: number) => ({ withoutFace, decided: 50 - withoutFace })
  assert.deepEqual(changesTo(few(8), few(2)), [])
  assert.equal(changesTo(few(20), few(2)).length, 1)
})
