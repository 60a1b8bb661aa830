import assert from 'node:assert/strict'

import { meanOf } from './geometry.ts'
import type { ImageSize, Point, Rect } from './geometry.ts'

/** Maps (x, y) to (a·x + b·y + c, d·x + e·y + f). */
export type AffineTransform = {
  readonly a: number
  readonly b: number
  readonly c: number
  readonly d: number
  readonly e: number
  readonly f: number
}

export function applyTransform({ a, b, c, d, e, f }: AffineTransform, { x, y }: Point): Point {
  return { x: a * x + b * y + c, y: d * x + e * y + f }
}

/**
 * Returns the similarity transform (rotation, uniform scale, shift; no mirroring) that maps `from`
 * closest to `to` in the least-squares sense. In complex numbers it is a line fit:
 * to ≈ k·from + shift.
 */
export function fitSimilarityTransform(
  from: readonly Point[],
  to: readonly Point[],
): AffineTransform {
  assert.equal(from.length, to.length)
  const fromMean = meanOf(from)
  const toMean = meanOf(to)
  let real = 0
  let imaginary = 0
  let spread = 0
  for (const [index, point] of from.entries()) {
    const x = point.x - fromMean.x
    const y = point.y - fromMean.y
    const u = (to[index]?.x ?? 0) - toMean.x
    const v = (to[index]?.y ?? 0) - toMean.y
    real += x * u + y * v
    imaginary += x * v - y * u
    spread += x * x + y * y
  }
  assert.ok(spread > 0, 'the points do not all coincide')
  return toAffineTransform({
    real: real / spread,
    imaginary: imaginary / spread,
    from: fromMean,
    to: toMean,
  })
}

/** Returns the transform from a crop of `size` px to `rect`, rotated by `radians` around its centre. */
export function cropTransform(rect: Rect, size: ImageSize, radians = 0): AffineTransform {
  const cos = Math.cos(radians)
  const sin = Math.sin(radians)
  const stepX = rect.width / size.width
  const stepY = rect.height / size.height
  const a = cos * stepX
  const b = -sin * stepY
  const d = sin * stepX
  const e = cos * stepY
  const halfWidth = size.width / 2
  const halfHeight = size.height / 2
  return {
    a,
    b,
    c: rect.x + rect.width / 2 - a * halfWidth - b * halfHeight,
    d,
    e,
    f: rect.y + rect.height / 2 - d * halfWidth - e * halfHeight,
  }
}

/** Maps the point `from` to `to`. The factor real + i·imaginary contains rotation and scale. */
type ComplexSimilarity = {
  readonly real: number
  readonly imaginary: number
  readonly from: Point
  readonly to: Point
}

function toAffineTransform({ real, imaginary, from, to }: ComplexSimilarity): AffineTransform {
  return {
    a: real,
    b: -imaginary,
    c: to.x - real * from.x + imaginary * from.y,
    d: imaginary,
    e: real,
    f: to.y - imaginary * from.x - real * from.y,
  }
}
