import type { Frame } from '../image/frame.ts'
import type { Rect } from '../image/geometry.ts'
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
export function lumaOf(red: number, green: number, blue: number): number {
  return 0.299 * red + 0.587 * green + 0.114 * blue
}

export type LumaStatistics = {
  readonly mean: number
  /** Standard deviation. */
  readonly deviation: number
  /** The share of nearly black and nearly white pixels, 0..1. */
  readonly clippedShare: number
}

export function lumaStatistics({ values }: Luma): LumaStatistics {
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
  return { mean, deviation: Math.sqrt(variance), clippedShare: clipped / values.length }
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
