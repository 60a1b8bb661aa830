import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { test } from 'node:test'

import { shrinkFactor } from '../pyramid.ts'
import type { Frame } from '../decode.ts'
import { halveFrame, levelPlanes, sampleFrame } from './image-kernel.ts'

test('Each pixel of a halved frame is the mean of four pixels, per channel', () => {
  const pixels = Uint8Array.from([0, 10, 255, 4, 20, 255, 8, 30, 255, 12, 40, 255])
  const half = halveFrame({ width: 2, height: 2, pixels })
  assert.deepEqual(half, { width: 1, height: 1, pixels: Uint8Array.from([6, 25, 255]) })
})

test('An odd side is rounded up, and its last pixel is repeated', () => {
  const grey = [0, 100, 50, 20, 40, 70, 8, 16, 200].flatMap((level) => [level, level, level])
  const { width, height, pixels } = halveFrame({
    width: 3,
    height: 3,
    pixels: Uint8Array.from(grey),
  })
  assert.deepEqual([width, height], [2, 2])
  assert.deepEqual([...pixels], [40, 40, 40, 60, 60, 60, 12, 12, 12, 200, 200, 200])
})

test('A frame of one pixel is unchanged', () => {
  const frame = { width: 1, height: 1, pixels: Uint8Array.from([1, 2, 3]) }
  assert.deepEqual(halveFrame(frame), frame)
})

const channel = fc.integer({ min: 0, max: 255 })
const size = fc.record({
  width: fc.integer({ min: 1, max: 40 }),
  height: fc.integer({ min: 1, max: 12 }),
})
const frames = size.chain(({ width, height }) =>
  fc
    .array(channel, { minLength: 3 * width * height, maxLength: 3 * width * height })
    .map((values): Frame => ({ width, height, pixels: Uint8Array.from(values) })),
)

test('A frame of any size is halved as a loop over single pixels does it', () => {
  fc.assert(
    fc.property(frames, (frame) => {
      assert.deepEqual(halveFrame(frame), halveByPixels(frame))
    }),
  )
})

test('A crop of any size and place has the values of a loop over single samples', () => {
  const number = fc.double({ min: -4, max: 4, noNaN: true })
  const shift = fc.double({ min: -50, max: 50, noNaN: true })
  const transforms = fc.record({ a: number, b: number, c: shift, d: number, e: number, f: shift })
  const samples = fc.integer({ min: 1, max: 8 })
  fc.assert(
    fc.property(frames, transforms, size, samples, (frame, toFrame, cropSize, perSide) => {
      const planes = sampleFrame(frame, toFrame, { ...cropSize, samplesPerSide: perSide })
      const expected = sampleByPixels(frame, toFrame, cropSize, perSide)
      assert.equal(planes.length, expected.length)
      for (const [index, value] of expected.entries())
        assert.ok(Math.abs((planes[index] ?? NaN) - value) < 1e-3, `value ${index}`)
    }),
  )
})

test('With levels, a crop has the values of the input of a network, computed with 64 bits', () => {
  const level = fc.double({ min: -200, max: 200, noNaN: true })
  const levelsOf = fc.record({ scale: level, offsets: fc.tuple(level, level, level) })
  fc.assert(
    fc.property(frames, levelsOf, (frame, levels) => {
      const { width, height } = frame
      const toFrame = { a: 0.7, b: 0.2, c: 0, d: -0.2, e: 0.7, f: 0 }
      const sampling = { width, height, samplesPerSide: 2 }
      const planes = sampleFrame(frame, toFrame, sampling)
      const expected = planes.map(
        (value, index) =>
          value * levels.scale + (levels.offsets[Math.floor(index / (width * height))] ?? NaN),
      )
      assert.deepEqual(sampleFrame(frame, toFrame, { ...sampling, levels }), expected)
    }),
  )
})

test('Planes with other levels have the values of a computation with 64 bits', () => {
  const level = fc.double({ min: -200, max: 200, noNaN: true })
  const levelsOf = fc.record({ scale: level, offsets: fc.tuple(level, level, level) })
  const value = fc.float({ min: 0, max: 255, noNaN: true })
  const planesOf = fc
    .integer({ min: 1, max: 9 })
    .chain((size) => fc.array(value, { minLength: 3 * size, maxLength: 3 * size }))
  fc.assert(
    fc.property(planesOf, levelsOf, (values, levels) => {
      const size = values.length / 3
      const plane = (index: number): Float32Array =>
        Float32Array.from(values.slice(index * size, (index + 1) * size))
      const written = levelPlanes([plane(0), plane(1), plane(2)], levels)
      const expected = values.map(
        (one, index) => one * levels.scale + (levels.offsets[Math.floor(index / size)] ?? NaN),
      )
      assert.deepEqual(written, Float32Array.from(expected))
    }),
  )
})

test('A frame that is larger than all frames before it is sampled completely', () => {
  const [width, height] = [3000, 2000]
  const frame = { width, height, pixels: new Uint8Array(3 * width * height).fill(77) }
  const toFrame = { a: width / 10, b: 0, c: 0, d: 0, e: height / 10, f: 0 }
  assert.ok(shrinkFactor(toFrame) > 100)
  const planes = sampleFrame(frame, toFrame, { width: 10, height: 10, samplesPerSide: 8 })
  assert.deepEqual([...new Set(planes)], [77])
})

function halveByPixels({ width, height, pixels }: Frame): Frame {
  const half = { width: Math.ceil(width / 2), height: Math.ceil(height / 2) }
  const output: number[] = []
  for (let y = 0; y < half.height; y++)
    for (let x = 0; x < half.width; x++)
      for (let plane = 0; plane < 3; plane++) {
        const at = (column: number, row: number): number =>
          pixels[3 * (Math.min(row, height - 1) * width + Math.min(column, width - 1)) + plane] ??
          NaN
        const sum =
          at(2 * x, 2 * y) + at(2 * x + 1, 2 * y) + at(2 * x, 2 * y + 1) + at(2 * x + 1, 2 * y + 1)
        output.push(Math.floor((sum + 2) / 4))
      }
  return { ...half, pixels: Uint8Array.from(output) }
}

function sampleByPixels(
  { width, height, pixels }: Frame,
  { a, b, c, d, e, f }: Parameters<typeof sampleFrame>[1],
  crop: { readonly width: number; readonly height: number },
  perSide: number,
): Float32Array {
  const planes = new Float32Array(3 * crop.width * crop.height)
  const parts = Array.from({ length: perSide }, (_, index) => (index + 0.5) / perSide)
  for (let index = 0; index < planes.length; index++) {
    const plane = Math.floor(index / (crop.width * crop.height))
    const row = Math.floor(index / crop.width) % crop.height
    const values = parts.flatMap((down) =>
      parts.map((across) => {
        const [x, y] = [(index % crop.width) + across, row + down]
        return bilinear(a * x + b * y + c - 0.5, d * x + e * y + f - 0.5, plane)
      }),
    )
    planes[index] = values.reduce((sum, value) => sum + value, 0) / values.length
  }
  return planes

  function bilinear(u: number, v: number, plane: number): number {
    const x = Math.min(width - 1, Math.max(0, u))
    const y = Math.min(height - 1, Math.max(0, v))
    const [left, top] = [Math.floor(x), Math.floor(y)]
    const at = (column: number, line: number): number =>
      pixels[3 * (Math.min(line, height - 1) * width + Math.min(column, width - 1)) + plane] ?? NaN
    const upper = at(left, top) + (x - left) * (at(left + 1, top) - at(left, top))
    const lower = at(left, top + 1) + (x - left) * (at(left + 1, top + 1) - at(left, top + 1))
    return upper + (y - top) * (lower - upper)
  }
}
