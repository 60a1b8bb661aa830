import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bestDecision, isNearMiss, type CallDecision } from './call-decision.ts'

const decision = (fields: Partial<CallDecision>): CallDecision => ({
  outcome: 'no_match',
  similarity: null,
  livenessScore: null,
  threshold: 0.8,
  margin: null,
  quality: null,
  reason: null,
  ...fields,
})

test('The decision of several faces is that of the best: a success, then an open result, then the score', () => {
  const none = decision({})
  const miss = decision({ similarity: 0.7 })
  const match = decision({ outcome: 'match', similarity: 0.81 })
  const better = decision({ outcome: 'match', similarity: 0.93, margin: 0.2 })
  assert.equal(bestDecision([]), undefined)
  assert.equal(bestDecision([none, miss]), miss)
  assert.equal(bestDecision([match, none, better, miss]), better)
  const spoof = decision({ outcome: 'spoof', livenessScore: 0.1 })
  const uncertain = decision({ outcome: 'uncertain', livenessScore: 0.99 })
  const live = decision({ outcome: 'live', livenessScore: 0.9 })
  assert.equal(bestDecision([spoof, uncertain]), uncertain)
  assert.equal(bestDecision([uncertain, live, spoof]), live)
})

test('A near miss is below the threshold by at most 0.05', () => {
  const isNear = (similarity: number | null, threshold = 0.8) =>
    isNearMiss(decision({ similarity, threshold }))
  assert.deepEqual(
    [0.75, 0.7999].map((value) => isNear(value)),
    [true, true],
  )
  assert.deepEqual(
    [0.7499, 0.8, 0.81, null].map((value) => isNear(value)),
    [false, false, false, false],
  )
  assert.equal(isNear(0.9, 0.95), true)
  const unsure = decision({ outcome: 'uncertain', livenessScore: 0.46, threshold: 0.5 })
  assert.equal(isNearMiss(unsure), true)
})
