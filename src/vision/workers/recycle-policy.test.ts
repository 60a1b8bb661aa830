import assert from 'node:assert/strict'
import { test } from 'node:test'

import { createRecyclePolicy } from './recycle-policy.ts'

const limits = { workerJobsMax: 100, workerGrowthMax: 1.5, workerWarmUpJobs: 3 }

test('a worker is worn after its last job', () => {
  const wear = createRecyclePolicy(limits)
  const isWorn = Array.from({ length: 100 }, () => wear.isRecycleDueAfter(1))
  assert.equal(isWorn.indexOf(true), 99)
})

test('growth while a worker warms up sets the measure, growth beyond it wears it out', () => {
  const wear = createRecyclePolicy(limits)
  const isWorn = [100, 300, 200, 450, 451].map((rssBytes) => wear.isRecycleDueAfter(rssBytes))
  assert.deepEqual(isWorn, [false, false, false, false, true])
})
