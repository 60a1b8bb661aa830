import assert from 'node:assert/strict'

/** px; origin top-left, y downwards. In results: px of the oriented image. */
export type Point = { readonly x: number; readonly y: number }

/** px */
export type ImageSize = { readonly width: number; readonly height: number }

/** Whole pixels of the oriented image, origin top-left. */
export type BoundingBox = Readonly<Record<'left' | 'top' | 'width' | 'height', number>>

/**
 * A rectangle in continuous coordinates: pixel i covers i..i+1, its centre is i + 0.5. All
 * geometry in this folder uses this convention. Scaling an image then scales its coordinates by
 * plain multiplication.
 */
export type Rect = Point & ImageSize

/** Intersection over union, 0..1. */
export function iou(a: Rect, b: Rect): number {
  const width = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x)
  const height = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y)
  const shared = Math.max(0, width) * Math.max(0, height)
  return shared === 0 ? 0 : shared / (areaOf(a) + areaOf(b) - shared)
}

/**
 * Greedy non-maximum suppression: returns `items` with the highest rank first, without those that
 * overlap a better one by more than `iouMax`.
 */
export function suppressOverlaps<T extends { readonly box: Rect }>(
  items: readonly T[],
  rank: (item: T) => number,
  iouMax: number,
): T[] {
  const kept: T[] = []
  for (const item of items.toSorted((a, b) => rank(b) - rank(a)))
    if (kept.every(({ box }) => iou(box, item.box) <= iouMax)) kept.push(item)
  return kept
}

export function areaOf({ width, height }: Rect): number {
  return width * height
}

export function centreOf({ x, y, width, height }: Rect): Point {
  return { x: x + width / 2, y: y + height / 2 }
}

/** Returns the size after scaling, in whole pixels, each side at least 1. */
export function scaleSize({ width, height }: ImageSize, scale: number): ImageSize {
  const scaled = (side: number): number => Math.max(1, Math.round(side * scale))
  return { width: scaled(width), height: scaled(height) }
}

export function scaleRect({ x, y, width, height }: Rect, scaleX: number, scaleY: number): Rect {
  return { x: x * scaleX, y: y * scaleY, width: width * scaleX, height: height * scaleY }
}

export function squareAround(centre: Point, side: number): Rect {
  return { x: centre.x - side / 2, y: centre.y - side / 2, width: side, height: side }
}

/** The smallest rectangle that contains all `points`. */
export function boundsOf(points: readonly Point[]): Rect {
  let left = Number.POSITIVE_INFINITY
  let top = Number.POSITIVE_INFINITY
  let right = Number.NEGATIVE_INFINITY
  let bottom = Number.NEGATIVE_INFINITY
  for (const { x, y } of points) {
    left = Math.min(left, x)
    top = Math.min(top, y)
    right = Math.max(right, x)
    bottom = Math.max(bottom, y)
  }
  return { x: left, y: top, width: right - left, height: bottom - top }
}

export function meanOf(points: readonly Point[]): Point {
  const sum = points.reduce((a, b) => ({ x: a.x + b.x, y: a.y + b.y }), { x: 0, y: 0 })
  return { x: sum.x / points.length, y: sum.y / points.length }
}

/** Returns 0 up to `zeroAt`, 1 from `oneAt` on, and a linear value between; either may be larger. */
export function linearRamp(value: number, zeroAt: number, oneAt: number): number {
  return Math.min(1, Math.max(0, (value - zeroAt) / (oneAt - zeroAt)))
}

/** Maps (x, y) to (a·x + b·y + c, d·x + e·y + f). */
export type AffineTransform = Readonly<Record<'a' | 'b' | 'c' | 'd' | 'e' | 'f', number>>

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
  // The factor k = a + i·d contains rotation and scale.
  const a = real / spread
  const d = imaginary / spread
  const c = toMean.x - a * fromMean.x + d * fromMean.y
  const f = toMean.y - d * fromMean.x - a * fromMean.y
  return { a, b: -d, c, d, e: a, f }
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
  const c = rect.x + rect.width / 2 - a * halfWidth - b * halfHeight
  const f = rect.y + rect.height / 2 - d * halfWidth - e * halfHeight
  return { a, b, c, d, e, f }
}
