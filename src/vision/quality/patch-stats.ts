import { boundsOf } from '../image/geometry.ts'
import { lumaOf } from './luma.ts'
import type { Point } from '../image-analysis.ts'
import type { PlanarCrop } from '../image/warp.ts'

/** What the pixels of a patch have in common; luma 0..255, chroma as in JPEG less its 128. */
export type PatchStats = {
  /** Pixels. */
  readonly pixelCount: number
  readonly luma: number
  readonly blueness: number
  readonly redness: number
  /** Standard deviation of the luma. */
  readonly deviation: number
  /** Mean of |∂luma/∂x| + |∂luma/∂y| over two pixels: how much is going on. */
  readonly gradient: number
}

/** The patch of `chip` inside a polygon in the chip's continuous coordinates. */
export function measurePatch(chip: PlanarCrop, outline: readonly Point[]): PatchStats {
  const { planes, width, height } = chip
  const size = width * height
  const luma = (at: number): number =>
    lumaOf(planes[at] ?? 0, planes[at + size] ?? 0, planes[at + 2 * size] ?? 0)
  const sum = { count: 0, luma: 0, squares: 0, blueness: 0, redness: 0, gradient: 0 }
  for (const { start, end } of pixelRunsInside(outline, width, height))
    for (let at = start; at < end; at++) {
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
    pixelCount: count,
    luma: mean(sum.luma),
    blueness: mean(sum.blueness),
    redness: mean(sum.redness),
    deviation,
    gradient: mean(sum.gradient),
  }
}

/** Several patches as one. */
export function mergePatches(...patches: readonly PatchStats[]): PatchStats {
  const count = patches.reduce((sum, patch) => sum + patch.pixelCount, 0)
  const mean = (name: keyof PatchStats): number =>
    patches.reduce((sum, patch) => sum + patch[name] * patch.pixelCount, 0) / Math.max(1, count)
  return {
    pixelCount: count,
    luma: mean('luma'),
    blueness: mean('blueness'),
    redness: mean('redness'),
    deviation: mean('deviation'),
    gradient: mean('gradient'),
  }
}

/** Pixels next to each other in one row: indices from `start` up to `end`, which is not one of them. */
type PixelRun = { readonly start: number; readonly end: number }

/** The pixels whose centres lie inside by the even-odd rule, but for those on the edge of the chip. */
function* pixelRunsInside(
  outline: readonly Point[],
  width: number,
  height: number,
): Generator<PixelRun> {
  const bounds = boundsOf(outline)
  const bottom = Math.min(height - 2, Math.ceil(bounds.y + bounds.height))
  for (let y = Math.max(1, Math.floor(bounds.y)); y <= bottom; y++) {
    const crossings = crossingsAt(outline, y + 0.5)
    for (let index = 0; index + 1 < crossings.length; index += 2) {
      const left = Math.max(1, Math.ceil((crossings[index] ?? 0) - 0.5))
      const right = Math.min(width - 2, Math.ceil((crossings[index + 1] ?? 0) - 0.5) - 1)
      if (left <= right) yield { start: y * width + left, end: y * width + right + 1 }
    }
  }
}

/** Where the outline crosses the line at this height, from left to right. */
function crossingsAt(outline: readonly Point[], y: number): number[] {
  const crossings: number[] = []
  let before = outline.at(-1)
  for (const point of outline) {
    if (before && point.y > y !== before.y > y)
      crossings.push(((before.x - point.x) * (y - point.y)) / (before.y - point.y) + point.x)
    before = point
  }
  return crossings.toSorted((a, b) => a - b)
}
