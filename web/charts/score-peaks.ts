/** A second peak is at least this share of the largest one. */
const peakShareMin = 0.05

/** The lowest value between two peaks is at most this share of the smaller one. */
const valleyShareMax = 0.5

/**
 * Returns the lowest bin between the two peaks of a histogram; undefined if it has one peak only.
 *
 * @param counts the number of calls of each bin
 */
export function valleyBetweenPeaks(counts: readonly number[]): number | undefined {
  const heights = smoothed(counts)
  const largest = heights.indexOf(Math.max(...heights))
  const peakMin = (heights[largest] ?? 0) * peakShareMin
  let second: { readonly height: number; readonly valley: number } | undefined
  for (const [bin, height] of heights.entries()) {
    if (bin === largest || height < peakMin || height <= (second?.height ?? 0)) continue
    const valley = lowestBetween(heights, Math.min(bin, largest), Math.max(bin, largest))
    if ((heights[valley] ?? 0) <= height * valleyShareMax) second = { height, valley }
  }
  return second?.valley
}

/** Averages each bin with its neighbours, because single bins vary by chance. */
function smoothed(counts: readonly number[]): readonly number[] {
  return counts.map((count, bin) => {
    const window = [counts[bin - 1] ?? 0, count, counts[bin + 1] ?? 0]
    return window.reduce((sum, one) => sum + one, 0) / window.length
  })
}

/** Returns the middle one of the lowest bins between two bins. */
function lowestBetween(heights: readonly number[], from: number, to: number): number {
  const between = heights.slice(from, to + 1)
  const lowest = Math.min(...between)
  return from + Math.round((between.indexOf(lowest) + between.lastIndexOf(lowest)) / 2)
}
