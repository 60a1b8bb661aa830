import assert from 'node:assert/strict'
import { test } from 'node:test'
import { samplePhotograph, startFacegate } from '../support/facegate/test-facegate.ts'

test('Server-Timing has the durations of the steps, and is absent without a valid key', async () => {
  await using facegate = await startFacegate({ VISION_WORKERS: '1' })
  const { headers } = await facegate.run('svc.detect', await samplePhotograph(3))
  const entries = (headers.get('server-timing') ?? '')
    .split(', ')
    .map((entry) => entry.split(';dur='))
  assert.deepEqual(
    entries.map(([step]) => step),
    ['gate.authenticate', 'gate.admit', 'vision.queue', 'vision.analyze', 'gate.settle'],
  )
  for (const [step, ms] of entries) assert.match(ms ?? '', /^\d+\.\d\d$/u, step)
  assert.ok(Number(new Map(entries.map(([step, ms]) => [step, ms])).get('vision.analyze')) > 0)
  const rejected = await facegate.post({}, { 'x-api-key': 'nonsense' })
  assert.deepEqual([rejected.status, rejected.headers.get('server-timing')], [401, null])
})
