/** px; origin top-left, y downwards. In results: px of the oriented image. */
export type Point = { readonly x: number; readonly y: number }

/** px */
export type ImageSize = { readonly width: number; readonly height: number }

/** Whole pixels of the oriented image, origin top-left. */
export type BoundingBox = {
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
}

/**
 * A rectangle in continuous coordinates: pixel i covers i..i+1, its centre is i + 0.5. All
 * geometry in this folder uses this convention. Scaling an image then scales its coordinates by
 * plain multiplication.
 */
export type Rect = {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

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
