import assert from 'node:assert/strict'
import { test } from 'node:test'

import { createRecyclePolicy } from './worker-process.ts'

const limits = { workerJobsMax: 100, workerGrowthMax: 1.5, workerWarmUpJobs: 3 }

test('A worker must be replaced after its last job', () => {
  const isRecycleDueAfter = createRecyclePolicy(limits)
  const isDue = Array.from({ length: 100 }, () => isRecycleDueAfter(1))
  assert.equal(isDue.indexOf(true), 99)
})

test('Warm-up sets the memory baseline, and growth beyond the limit requires a replacement', () => {
  const isRecycleDueAfter = createRecyclePolicy(limits)
  const isDue = [100, 300, 200, 450, 451].map(isRecycleDueAfter)
  assert.deepEqual(isDue, [false, false, false, false, true])
})
