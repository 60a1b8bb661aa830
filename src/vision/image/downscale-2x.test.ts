import assert from 'node:assert/strict'
import { test } from 'node:test'
import { downscale2x } from './downscale-2x.ts'

test('Each pixel of a halved frame is the mean of four pixels, per channel', () => {
  const pixels = Uint8Array.from([0, 10, 255, 4, 20, 255, 8, 30, 255, 12, 40, 255])
  const half = downscale2x({ width: 2, height: 2, pixels })
  assert.deepEqual(half, { width: 1, height: 1, pixels: Uint8Array.from([6, 25, 255]) })
})

test('An odd side is rounded up, and its last pixel is repeated', () => {
  const grey = [0, 100, 50, 20, 40, 70, 8, 16, 200].flatMap((level) => [level, level, level])
  const { width, height, pixels } = downscale2x({
    width: 3,
    height: 3,
    pixels: Uint8Array.from(grey),
  })
  assert.deepEqual([width, height], [2, 2])
  assert.deepEqual([...pixels], [40, 40, 40, 60, 60, 60, 12, 12, 12, 200, 200, 200])
})

test('A frame of one pixel is unchanged', () => {
  const frame = { width: 1, height: 1, pixels: Uint8Array.from([1, 2, 3]) }
  assert.deepEqual(downscale2x(frame), frame)
})

test('Processing by words gives the same result as processing by bytes', () => {
  const [width, height] = [8, 4]
  const pixels = Uint8Array.from({ length: 3 * width * height }, (_, i) => (i * 97 + 255) % 256)
  // An offset of one byte is not aligned to words, so the frame is processed by bytes.
  const moved = new Uint8Array(pixels.length + 1).subarray(1)
  moved.set(pixels)
  assert.deepEqual(
    downscale2x({ width, height, pixels }),
    downscale2x({ width, height, pixels: moved }),
  )
})
