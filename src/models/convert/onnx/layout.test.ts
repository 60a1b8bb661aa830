import assert from 'node:assert/strict'
import { test } from 'node:test'
import { samePads, windowedSize, transpose } from './layout.ts'

test('transpose swaps the rows and columns of a matrix', () => {
  const matrix = Float32Array.of(1, 2, 3, 4, 5, 6)
  assert.deepEqual([...transpose(matrix, [2, 3], [1, 0])], [1, 4, 2, 5, 3, 6])
})

test('transpose reorders TensorFlow filters to the ONNX layout', () => {
  const [height, width, inputs, outputs] = [2, 3, 4, 5]
  const shape = [height, width, inputs, outputs]
  const filters = Float32Array.from({ length: 120 }, (_, index) => index)
  const reordered = transpose(filters, shape, [3, 2, 0, 1])
  const valueAt = (out: number, input: number, y: number, x: number): number | undefined =>
    reordered[((out * inputs + input) * height + y) * width + x]
  assert.equal(valueAt(4, 3, 1, 2), 119)
  assert.equal(valueAt(1, 0, 0, 0), 1)
  assert.equal(valueAt(0, 1, 0, 0), outputs)
  assert.equal(valueAt(0, 0, 0, 1), inputs * outputs)
})

test('"SAME" padding puts the odd pixel at the bottom and right', () => {
  assert.deepEqual(samePads([224, 224], [3, 3], [2, 2]), [0, 0, 1, 1])
  assert.deepEqual(samePads([225, 112], [3, 3], [2, 1]), [1, 1, 1, 1])
  assert.deepEqual(samePads([8, 8], [1, 1], [2, 2]), [0, 0, 0, 0])
})

test('"SAME" padding returns as many outputs as strides fit into the input', () => {
  for (const size of [7, 8, 9, 224]) {
    const [kernel, stride] = [[5, 5] as const, [2, 2] as const]
    const pads = samePads([size, size], kernel, stride)
    const expected = Math.ceil(size / 2)
    assert.deepEqual(windowedSize([size, size], { kernel, stride, pads }), [expected, expected])
  }
})
