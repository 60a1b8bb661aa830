import { mapValues } from '../../lib/map-values.ts'
import type { Frame } from '../image/decode.ts'
import { type Rect, boundsOf, type Point } from '../image/geometry.ts'
import type { PlanarCrop } from '../image/pyramid.ts'

/** A grey image, row by row, Rec. 601 luma 0..255. */
export type Luma = {
  /** px */
  readonly width: number
  readonly height: number
  readonly values: Float32Array
}

/** Returns the luma of a part of a crop; the part has integer coordinates and is inside the crop. */
export function cropLuma({ planes, width, height }: PlanarCrop, part: Rect): Luma {
  const size = width * height
  const values = new Float32Array(part.width * part.height)
  for (let y = 0, to = 0; y < part.height; y++)
    for (let x = 0; x < part.width; x++, to++) {
      const i = (part.y + y) * width + part.x + x
      values[to] = lumaOf(planes[i] ?? 0, planes[i + size] ?? 0, planes[i + 2 * size] ?? 0)
    }
  return { width: part.width, height: part.height, values }
}

/** Returns the luma of a whole frame. */
export function frameLuma({ pixels, width, height }: Frame): Luma {
  const values = new Float32Array(width * height)
  for (let to = 0, from = 0; to < values.length; to++, from += 3)
    values[to] = lumaOf(pixels[from] ?? 0, pixels[from + 1] ?? 0, pixels[from + 2] ?? 0)
  return { width, height, values }
}

/** Returns the Rec. 601 luma of gamma-encoded values. */
function lumaOf(red: number, green: number, blue: number): number {
  return 0.299 * red + 0.587 * green + 0.114 * blue
}

export function lumaStatistics({ values }: Luma) {
  let sum = 0
  let squares = 0
  let clipped = 0
  for (const value of values) {
    sum += value
    squares += value * value
    if (value < darkest || value > brightest) clipped++
  }
  const mean = sum / values.length
  const variance = Math.max(0, squares / values.length - mean * mean)
  return {
    mean,
    /** Standard deviation. */
    deviation: Math.sqrt(variance),
    /** The share of nearly black and nearly white pixels, 0..1. */
    clippedShare: clipped / values.length,
  }
}

const darkest = 8
const brightest = 247

/**
 * Returns the mean squared frequency of the edges: the sum of squared second differences divided by
 * the sum of squared first differences. A Gaussian blur always lowers it (its derivative with respect
 * to the width is minus a variance). Brightness and contrast do not change it.
 */
export function meanSquareFrequency({ width, height, values }: Luma): number {
  let first = 0
  let second = 0
  for (let y = 1; y < height - 1; y++)
    for (let x = 1; x < width - 1; x++) {
      const i = y * width + x
      const centre = values[i] ?? 0
      const right = values[i + 1] ?? 0
      const left = values[i - 1] ?? 0
      const below = values[i + width] ?? 0
      const above = values[i - width] ?? 0
      first += (right - centre) ** 2 + (below - centre) ** 2
      second += (right + left + below + above - 4 * centre) ** 2
    }
  return first === 0 ? 0 : second / first
}

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
  const { count, ...sums } = sum
  const { squares, ...means } = mapValues(sums, (total) => (count === 0 ? 0 : total / count))
  return {
    pixelCount: count,
    ...means,
    deviation: Math.sqrt(Math.max(0, squares - means.luma ** 2)),
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

/**
 * Yields the pixels with their centre inside (even-odd rule), except on the edge of the crop, as
 * adjacent pixels of one row: the indices from `start` up to, but not including, `end`.
 */
function* pixelRunsInside(outline: readonly Point[], width: number, height: number) {
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
