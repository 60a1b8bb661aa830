import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMetrics, createObservations, observationsMax } from './metrics.ts'

test('Values wait until there are too many of them', () => {
  const observed: number[] = []
  const { add } = createObservations<string>((_, value) => void observed.push(value))
  for (let value = 1; value < observationsMax; value++) add('step', value)
  assert.equal(observed.length, 0)
  add('step', observationsMax)
  assert.equal(observed.length, observationsMax)
  assert.equal(observed.at(-1), observationsMax)
})

test('The metrics contain every step that ended before they were read, once', async () => {
  const { onStep, text, families } = createMetrics([])
  onStep('gate.admit', 2)
  onStep('gate.settle', 3)
  onStep('gate.admit', 5)
  for (let reading = 1; reading <= 2; reading++) {
    const rendered = await text()
    assert.match(rendered, /facegate_step_duration_seconds_count\{step="gate\.admit"\} 2\n/u)
    assert.match(rendered, /facegate_step_duration_seconds_sum\{step="gate\.admit"\} 0\.007\n/u)
  }
  onStep('gate.settle', 1)
  const steps = (await families()).find(({ name }) => name === 'facegate_step_duration_seconds')
  const count = steps?.values.find(
    ({ metricName = '', labels }) =>
      metricName.endsWith('_count') && labels['step'] === 'gate.settle',
  )
  assert.equal(count?.value, 2)
})
