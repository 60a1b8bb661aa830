import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shareRuns } from './service-routes.ts'

test('Callers share the next run, and none receives a run that started before its call', async () => {
  const runs: PromiseWithResolvers<number>[] = []
  const read = shareRuns(() => {
    const run = Promise.withResolvers<number>()
    runs.push(run)
    return run.promise
  }, 1)
  const first = [read(), read()]
  while (runs.length === 0) await new Promise(setImmediate)
  const second = [read(), read(), read()]
  await new Promise((resolve) => setTimeout(resolve, 20))
  assert.equal(runs.length, 1, 'one run is active')
  runs[0]?.resolve(1)
  assert.deepEqual(await Promise.all(first), [1, 1])
  while (runs.length === 1) await new Promise((resolve) => setTimeout(resolve, 1))
  runs[1]?.resolve(2)
  assert.deepEqual(await Promise.all(second), [2, 2, 2])
  assert.equal(runs.length, 2)
})

test('A failed run rejects its callers, and the next call starts another run', async () => {
  let runCount = 0
  const read = shareRuns(async () => {
    runCount++
    if (runCount === 1) throw new Error('first')
    return runCount
  }, 1)
  const results = await Promise.allSettled([read(), read()])
  assert.deepEqual(
    results.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  assert.equal(await read(), 2)
})
