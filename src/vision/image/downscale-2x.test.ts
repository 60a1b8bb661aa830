import assert from 'node:assert/strict'
import { test } from 'node:test'
import { downscale2x } from './downscale-2x.ts'

test('each pixel of half a frame is the mean of four, channel by channel', () => {
  const pixels = Uint8Array.from([0, 10, 255, 4, 20, 255, 8, 30, 255, 12, 40, 255])
  const half = downscale2x({ width: 2, height: 2, pixels })
  assert.deepEqual(half, { width: 1, height: 1, pixels: Uint8Array.from([6, 25, 255]) })
})

test('an odd side is rounded up, and its last pixel counts for the one that is missing', () => {
  const grey = [0, 100, 50, 20, 40, 70, 8, 16, 200].flatMap((level) => [level, level, level])
  const { width, height, pixels } = downscale2x({
    width: 3,
    height: 3,
    pixels: Uint8Array.from(grey),
  })
  assert.deepEqual([width, height], [2, 2])
  assert.deepEqual([...pixels], [40, 40, 40, 60, 60, 60, 12, 12, 12, 200, 200, 200])
})

test('a single pixel stays what it is', () => {
  const frame = { width: 1, height: 1, pixels: Uint8Array.from([1, 2, 3]) }
  assert.deepEqual(downscale2x(frame), frame)
})

test('words give what bytes give', () => {
  const [width, height] = [8, 4]
  const pixels = Uint8Array.from({ length: 3 * width * height }, (_, at) => (at * 97 + 255) % 256)
  // One byte further on, words do not fit and it is done byte by byte.
  const moved = new Uint8Array(pixels.length + 1).subarray(1)
  moved.set(pixels)
  assert.deepEqual(
    downscale2x({ width, height, pixels }),
    downscale2x({ width, height, pixels: moved }),
  )
})
