import type { ProcessSample } from './process-samples.ts'

export type Slope = {
  readonly mibPerHour: number
  /** Standard error of the slope, from the scatter of the blocks around the line. */
  readonly errorMibPerHour: number
  /** Duration of the samples that the slope was computed from. */
  readonly windowMs: number
}

const mebibyte = 1024 * 1024
const hourMs = 3_600_000

/** The slope is fitted to the minimums of at most this many blocks of equal duration. */
const blocksMax = 24
const samplesPerBlockMin = 3

/**
 * Returns the growth of the resident memory. The memory of a garbage-collected process is a
 * sawtooth, so the least-squares line is fitted to the minimum of each block.
 *
 * @param samples at equal intervals.
 * @returns undefined with too few samples for six blocks.
 */
export function memorySlope(samples: readonly ProcessSample[]): Slope | undefined {
  const blocks = Math.min(blocksMax, Math.floor(samples.length / samplesPerBlockMin))
  if (blocks < 6) return undefined
  const points = Array.from({ length: blocks }, (_, block) => {
    const from = Math.floor((block * samples.length) / blocks)
    const to = Math.floor(((block + 1) * samples.length) / blocks)
    const inBlock = samples.slice(from, to)
    const atMs = inBlock.reduce((sum, sample) => sum + sample.atMs, 0) / inBlock.length
    const minBytes = Math.min(...inBlock.map((sample) => sample.rssBytes))
    return { x: atMs / hourMs, y: minBytes / mebibyte }
  })
  const windowMs = (samples.at(-1)?.atMs ?? 0) - (samples[0]?.atMs ?? 0)
  return { ...fitLine(points), windowMs }
}

type LinePoint = { readonly x: number; readonly y: number }

function fitLine(points: readonly LinePoint[]): Omit<Slope, 'windowMs'> {
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length
  const meanX = mean(points.map(({ x }) => x))
  const meanY = mean(points.map(({ y }) => y))
  const squares = points.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0)
  const products = points.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0)
  const mibPerHour = products / squares
  const residuals = points.map(({ x, y }) => (y - meanY - mibPerHour * (x - meanX)) ** 2)
  const variance = residuals.reduce((sum, value) => sum + value, 0) / (points.length - 2)
  return { mibPerHour, errorMibPerHour: Math.sqrt(variance / squares) }
}
