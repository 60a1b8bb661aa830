import assert from 'node:assert/strict'
import { test } from 'node:test'
import { boxProbabilityOf } from './box-probability.ts'

test('The box probability increases with the confidence, from 0 to 1, for every detector', () => {
  for (const kind of ['builtin', 'yunet', 'scrfd', 'retinaface'] as const) {
    const { ofConfidence } = boxProbabilityOf(kind)
    const values = Array.from({ length: 101 }, (_, index) => ofConfidence(index / 100))
    assert.deepEqual([values[0], values.at(-1)], [0, 1])
    for (const [index, value] of values.slice(1).entries())
      assert.ok(value > (values[index] ?? 1), `${kind} at ${index + 1} %`)
  }
})

test('A confidence of 0.6 of the built-in detector is a box probability of 0.8', () => {
  const { ofConfidence, toConfidence } = boxProbabilityOf('builtin')
  assert.equal(ofConfidence(0.6), 0.8)
  assert.equal(ofConfidence(0.599), 0.798)
  assert.ok(Math.abs(toConfidence(0.8) - 0.6) < 1e-12)
  assert.equal(boxProbabilityOf('yunet').ofConfidence(0.8), 0.8)
})

test('A face that reaches a threshold of a client has a box probability of at least that threshold', () => {
  for (const kind of ['builtin', 'yunet'] as const) {
    const { ofConfidence, toConfidence } = boxProbabilityOf(kind)
    for (let threshold = 0; threshold <= 1; threshold += 0.05)
      assert.ok(ofConfidence(toConfidence(threshold)) >= Math.floor(threshold * 1000) / 1000)
  }
})
