import { boundsOf } from './geometry.ts'
import { lumaOf } from './luma.ts'
import type { Point } from './view.ts'
import type { Chip } from './warp.ts'

/** What the pixels of a patch have in common; luma 0..255, chroma as in JPEG less its 128. */
export type Patch = {
  /** Pixels. */
  readonly count: number
  readonly luma: number
  readonly blueness: number
  readonly redness: number
  /** Standard deviation of the luma. */
  readonly deviation: number
  /** Mean of |∂luma/∂x| + |∂luma/∂y| over two pixels: how much is going on. */
  readonly gradient: number
}

/** The patch of `chip` inside a polygon in the chip's continuous coordinates. */
export function patchOf(chip: Chip, outline: readonly Point[]): Patch {
  const { planes, width, height } = chip
  const size = width * height
  const luma = (at: number): number =>
    lumaOf(planes[at] ?? 0, planes[at + size] ?? 0, planes[at + 2 * size] ?? 0)
  const sum = { count: 0, luma: 0, squares: 0, blueness: 0, redness: 0, gradient: 0 }
  for (const at of pixelsIn(outline, width, height)) {
    const here = luma(at)
    sum.count++
    sum.luma += here
    sum.squares += here * here
    sum.blueness += 0.564 * ((planes[at + 2 * size] ?? 0) - here)
    sum.redness += 0.713 * ((planes[at] ?? 0) - here)
    sum.gradient += Math.abs(luma(at + 1) - luma(at - 1))
    sum.gradient += Math.abs(luma(at + width) - luma(at - width))
  }
  const { count, squares } = sum
  const mean = (total: number): number => (count === 0 ? 0 : total / count)
  const deviation = Math.sqrt(Math.max(0, mean(squares) - mean(sum.luma) ** 2))
  return {
    count,
    luma: mean(sum.luma),
    blueness: mean(sum.blueness),
    redness: mean(sum.redness),
    deviation,
    gradient: mean(sum.gradient),
  }
}

/** Several patches as one. */
export function joined(...patches: readonly Patch[]): Patch {
  const count = patches.reduce((sum, patch) => sum + patch.count, 0)
  const mean = (name: keyof Patch): number =>
    patches.reduce((sum, patch) => sum + patch[name] * patch.count, 0) / Math.max(1, count)
  return {
    count,
    luma: mean('luma'),
    blueness: mean('blueness'),
    redness: mean('redness'),
    deviation: mean('deviation'),
    gradient: mean('gradient'),
  }
}

/** Indices of the pixels whose centres lie inside, but for those on the edge of the chip. */
function* pixelsIn(outline: readonly Point[], width: number, height: number): Generator<number> {
  const bounds = boundsOf(outline)
  const right = Math.min(width - 2, Math.ceil(bounds.x + bounds.width))
  const bottom = Math.min(height - 2, Math.ceil(bounds.y + bounds.height))
  for (let y = Math.max(1, Math.floor(bounds.y)); y <= bottom; y++)
    for (let x = Math.max(1, Math.floor(bounds.x)); x <= right; x++)
      if (isInside(outline, x + 0.5, y + 0.5)) yield y * width + x
}

/** Even-odd rule. */
function isInside(outline: readonly Point[], x: number, y: number): boolean {
  let inside = false
  let before = outline.at(-1)
  for (const point of outline) {
    if (
      before &&
      point.y > y !== before.y > y &&
      x < ((before.x - point.x) * (y - point.y)) / (before.y - point.y) + point.x
    )
      inside = !inside
    before = point
  }
  return inside
}
