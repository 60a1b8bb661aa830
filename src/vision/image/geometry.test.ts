import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assert as check, double, property, record } from 'fast-check'
import {
  iou,
  suppressOverlaps,
  applyTransform,
  cropTransform,
  fitSimilarityTransform,
} from './geometry.ts'
import { warp } from './pyramid.ts'

const near = (actual: number, expected: number, tolerance = 1e-6): void =>
  assert.ok(Math.abs(actual - expected) <= tolerance, `${actual} is not ${expected}`)

const square = (x: number, y: number, side: number) => ({ x, y, width: side, height: side })

test('The overlap is 1 for equal boxes, 0 for separate boxes, and a share otherwise', () => {
  assert.equal(iou(square(0, 0, 10), square(0, 0, 10)), 1)
  assert.equal(iou(square(0, 0, 10), square(10, 0, 10)), 0)
  near(iou(square(0, 0, 10), square(5, 0, 10)), 1 / 3)
})

test('Suppression keeps the best of overlapping items, in descending order', () => {
  const items = [
    { name: 'weak', box: square(1, 1, 10), score: 0.5 },
    { name: 'elsewhere', box: square(50, 50, 10), score: 0.6 },
    { name: 'strong', box: square(0, 0, 10), score: 0.9 },
  ]
  const kept = suppressOverlaps(items, ({ score }) => score, 0.35)
  assert.deepEqual(
    kept.map(({ name }) => name),
    ['strong', 'elsewhere'],
  )
})

test('The fit recovers the similarity transform that moved the points', () => {
  const number = double({ min: -100, max: 100, noNaN: true })
  const transform = record({
    scale: double({ min: 0.1, max: 10, noNaN: true }),
    angle: double({ min: -3, max: 3, noNaN: true }),
    x: number,
    y: number,
  })
  const from = [
    { x: 38, y: 51 },
    { x: 73, y: 52 },
    { x: 56, y: 71 },
    { x: 41, y: 92 },
  ]
  check(
    property(transform, ({ scale, angle, x, y }) => {
      const cos = scale * Math.cos(angle)
      const sin = scale * Math.sin(angle)
      const original = { a: cos, b: -sin, c: x, d: sin, e: cos, f: y }
      const fitted = fitSimilarityTransform(
        from,
        from.map((point) => applyTransform(original, point)),
      )
      for (const key of ['a', 'b', 'c', 'd', 'e', 'f'] as const)
        near(fitted[key], original[key], 1e-6)
    }),
  )
})

test('A crop transform maps corners to corners and rotates around the centre', () => {
  const size = { width: 8, height: 4 }
  const rect = { x: 10, y: 20, width: 80, height: 40 }
  assert.deepEqual(applyTransform(cropTransform(rect, size), { x: 0, y: 0 }), { x: 10, y: 20 })
  assert.deepEqual(applyTransform(cropTransform(rect, size), { x: 8, y: 4 }), { x: 90, y: 60 })
  const rotated = applyTransform(cropTransform(rect, size, Math.PI / 2), { x: 8, y: 2 })
  near(rotated.x, 50)
  near(rotated.y, 80)
})

test('A crop of the same size contains the original pixels, plane after plane', () => {
  const pixels = Uint8Array.from({ length: 3 * 3 * 2 }, (_, index) => 10 * index)
  const frame = { width: 3, height: 2, pixels }
  const { planes } = warp(frame, cropTransform({ x: 0, y: 0, width: 3, height: 2 }, frame), frame)
  assert.deepEqual(
    [...planes].map(Math.round),
    [0, 30, 60, 90, 120, 150, 10, 40, 70, 100, 130, 160, 20, 50, 80, 110, 140, 170],
  )
})

test('Shrinking averages pixels, and border pixels are repeated beyond the border', () => {
  const pixels = Uint8Array.from({ length: 4 * 4 * 3 }, (_, index) =>
    Math.floor(index / 3) % 2 === 0 ? 0 : 200,
  )
  const frame = { width: 4, height: 4, pixels }
  const rect = { x: 0, y: 0, width: 4, height: 4 }
  const small = warp(frame, cropTransform(rect, { width: 2, height: 2 }), { width: 2, height: 2 })
  for (const value of small.planes) near(value, 100, 1e-3)
  const outside = { x: 40, y: 0, width: 2, height: 2 }
  const beyond = warp(frame, cropTransform(outside, { width: 2, height: 2 }), {
    width: 2,
    height: 2,
  })
  for (const value of beyond.planes) near(value, 200, 1e-3)
})
