import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readWeights } from './weights.ts'
import type { WeightsGroup } from './weights.ts'

type WeightDescription = WeightsGroup['weights'][number]

/** Decodes `bytes` as one tensor. */
function readValues(description: Omit<WeightDescription, 'name'>, bytes: Uint8Array): number[] {
  const weights = readWeights({ weights: [{ name: 'w', ...description }] }, bytes)
  return [...(weights.get('w')?.data ?? [])]
}

test('float32 and int32 values are read unchanged', () => {
  const floats = new Uint8Array(Float32Array.of(1.5, -0.25).buffer)
  assert.deepEqual(readValues({ shape: [2], dtype: 'float32' }, floats), [1.5, -0.25])
  const integers = new Uint8Array(Int32Array.of(-1, 7).buffer)
  assert.deepEqual(readValues({ shape: [2], dtype: 'int32' }, integers), [-1, 7])
})

test('half-precision values are decoded exactly', () => {
  const bits = Uint16Array.of(0x3c00, 0xc000, 0x3555, 0x0001, 0x83ff, 0x7bff, 0x7c00, 0xfc00)
  const read = readValues(
    { shape: [bits.length], dtype: 'float32', quantization: { dtype: 'float16' } },
    new Uint8Array(bits.buffer),
  )
  const third = 0.333251953125
  const largest = 65504
  const expected = [1, -2, third, 2 ** -24, -1023 * 2 ** -24, largest, Infinity, -Infinity]
  assert.deepEqual(read, expected)
})

test('a half-precision NaN is decoded as NaN', () => {
  const quantization = { dtype: 'float16' }
  const [read] = readValues(
    { shape: [], dtype: 'float32', quantization },
    Uint8Array.of(0x00, 0x7e),
  )
  assert.ok(Number.isNaN(read))
})

test('uint8 and uint16 values are scaled and shifted', () => {
  const quantization = { scale: 0.5, min: -3 }
  assert.deepEqual(
    readValues(
      { shape: [3], dtype: 'float32', quantization: { dtype: 'uint8', ...quantization } },
      Uint8Array.of(0, 6, 255),
    ),
    [-3, 0, 124.5],
  )
  assert.deepEqual(
    readValues(
      { shape: [2], dtype: 'float32', quantization: { dtype: 'uint16', ...quantization } },
      Uint8Array.of(0x02, 0x00, 0x00, 0x01),
    ),
    [-2, 125],
  )
})

test('int32 values stored as uint8 are rounded to integers', () => {
  const quantization = { dtype: 'uint8', scale: 0.0039, min: 0 }
  assert.deepEqual(
    readValues({ shape: [1], dtype: 'int32', quantization }, Uint8Array.of(255)),
    [1],
  )
})

test('consecutive tensors are read at any alignment', () => {
  const file = new Uint8Array([9, 1, 2, 0, 0, 128, 63]).subarray(1)
  const quantization = { dtype: 'uint8', scale: 1, min: 0 }
  const weights = readWeights(
    {
      weights: [
        { name: 'bytes', shape: [2, 1], dtype: 'float32', quantization },
        { name: 'float', shape: [], dtype: 'float32' },
      ],
    },
    file,
  )
  assert.deepEqual(weights.get('bytes'), { shape: [2, 1], data: Float32Array.of(1, 2) })
  assert.deepEqual(weights.get('float'), { shape: [], data: Float32Array.of(1) })
})

test('a file that is longer or shorter than described is rejected', () => {
  const description = { shape: [2], dtype: 'float32' }
  assert.throws(() => readValues(description, new Uint8Array(9)), /8 bytes of weights, not 9/u)
  assert.throws(
    () => readValues(description, new Uint8Array(7)),
    /w end after the file of 7 bytes/u,
  )
})

test('an unknown type is rejected with the name of the weights', () => {
  assert.throws(
    () => readValues({ shape: [1], dtype: 'bfloat16' }, new Uint8Array(2)),
    /^Error: w has/u,
  )
})
