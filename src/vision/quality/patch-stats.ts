import { boundsOf, type Point } from '../image/geometry.ts'
import type { PlanarCrop } from '../image/pyramid.ts'
import { lumaOf } from './luma.ts'

/** Statistics of the pixels in a patch: means, unless described otherwise. */
export type PatchStats = {
  readonly pixelCount: number
  /** 0..255. */
  readonly luma: number
  /** Cb as in JPEG, minus 128. */
  readonly blueness: number
  /** Cr as in JPEG, minus 128. */
  readonly redness: number
  /** Standard deviation of the luma. */
  readonly deviation: number
  /** Mean of |∂luma/∂x| + |∂luma/∂y| over two pixels: the amount of detail. */
  readonly gradient: number
}

/** Measures the part of `crop` inside a polygon, given in continuous coordinates of the crop. */
export function measurePatch(crop: PlanarCrop, outline: readonly Point[]): PatchStats {
  const { planes, width, height } = crop
  const size = width * height
  const lumaAt = (i: number): number =>
    lumaOf(planes[i] ?? 0, planes[i + size] ?? 0, planes[i + 2 * size] ?? 0)
  const sum = { count: 0, luma: 0, squares: 0, blueness: 0, redness: 0, gradient: 0 }
  for (const { start, end } of pixelRunsInside(outline, width, height))
    for (let i = start; i < end; i++) {
      const luma = lumaAt(i)
      sum.count++
      sum.luma += luma
      sum.squares += luma * luma
      sum.blueness += 0.564 * ((planes[i + 2 * size] ?? 0) - luma)
      sum.redness += 0.713 * ((planes[i] ?? 0) - luma)
      sum.gradient += Math.abs(lumaAt(i + 1) - lumaAt(i - 1))
      sum.gradient += Math.abs(lumaAt(i + width) - lumaAt(i - width))
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

/** Returns the means over several patches, weighted by their number of pixels. */
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

/** Adjacent pixels of one row: the indices from `start` up to, but not including, `end`. */
type PixelRun = { readonly start: number; readonly end: number }

/** Yields the pixels with their centre inside (even-odd rule), except on the edge of the crop. */
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

/** Returns the x coordinates at which the outline crosses the height `y`, from left to right. */
function crossingsAt(outline: readonly Point[], y: number): number[] {
  const crossings: number[] = []
  let previous = outline.at(-1)
  for (const point of outline) {
    if (previous && point.y > y !== previous.y > y)
      crossings.push(((previous.x - point.x) * (y - point.y)) / (previous.y - point.y) + point.x)
    previous = point
  }
  return crossings.toSorted((a, b) => a - b)
}
