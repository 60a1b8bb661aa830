import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { Frame } from './decode.ts'
import { createImagePyramid } from './pyramid.ts'
import { cropTransform } from './geometry.ts'

const side = 64
const whole = { x: 0, y: 0, width: side, height: side }

test('A released pyramid holds no pixels of any size, and no crops', async () => {
  const frame = greyFrame(new Uint8Array(3 * side * side).fill(90))
  const highRes = greyFrame(new Uint8Array(3 * side * side).fill(90))
  const pyramid = createImagePyramid({ frame, highResFrame: () => Promise.resolve(highRes) })
  const half = pyramid.levelForScale(0.5)
  const crops = [
    await pyramid.sample(cropTransform(whole, { width: 8, height: 8 }), { width: 8, height: 8 }),
    await pyramid.sample(cropTransform(whole, { width: 256, height: 256 }), {
      width: 256,
      height: 256,
    }),
  ]
  const arrays = [frame, highRes, half].map(({ pixels }) => pixels)
  const planes = crops.map((crop) => crop.planes)
  assert.ok([...arrays, ...planes].every(({ length }) => length > 0))
  pyramid.release()
  assert.deepEqual(
    [...arrays, ...planes].map(({ length }) => length),
    [0, 0, 0, 0, 0],
  )
  pyramid.release()
})

test('Pixels that are a part of a larger buffer are left alone', () => {
  const buffer = new Uint8Array(3 * side * side + 1).fill(90)
  const frame = greyFrame(buffer.subarray(1))
  createImagePyramid({ frame, highResFrame: () => Promise.resolve(frame) }).release()
  assert.equal(frame.pixels.length, 3 * side * side)
  assert.equal(buffer[0], 90)
})

function greyFrame(pixels: Uint8Array): Frame {
  return { width: side, height: side, pixels }
}
