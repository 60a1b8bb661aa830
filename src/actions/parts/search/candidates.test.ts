import assert from 'node:assert/strict'
import { test } from 'node:test'
import { matchLevelOf } from './candidates.ts'

test('Each match level begins at its anchor', () => {
  const levels = [0, 0.699, 0.7, 0.799, 0.8, 0.899, 0.9, 0.949, 0.95, 1].map(matchLevelOf)
  const expected = ['none', 'none', 'low', 'low', 'medium', 'medium', 'high', 'high']
  assert.deepEqual(levels, [...expected, 'veryHigh', 'veryHigh'])
})
