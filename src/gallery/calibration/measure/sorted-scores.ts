/** Returns the score that at most the share `far` of the impostor scores exceeds. */
export function scoreAtFar(impostor: Float32Array, far: number): number {
  return impostor.at(-1 - Math.floor(far * impostor.length)) ?? impostor[0] ?? -Infinity
}

/** Returns the share of `sorted` (ascending) that is above `score`. */
export function shareAbove(sorted: Float32Array, score: number): number {
  return (sorted.length - countUpTo(sorted, score)) / sorted.length
}

/** Returns how many of the ascending scores are at most `score`. */
export function countUpTo(sorted: Float32Array, score: number): number {
  return lowerBound(sorted, (value) => value > score)
}

/** Returns how many of the ascending scores are below `score`. */
export function countBelow(sorted: ArrayLike<number>, score: number): number {
  return lowerBound(sorted, (value) => value >= score)
}

/** Returns the first index where `isReached` is true, by bisection; the length if there is none. */
function lowerBound(sorted: ArrayLike<number>, isReached: (value: number) => boolean): number {
  let from = 0
  let to = sorted.length
  while (from < to) {
    const middle = (from + to) >>> 1
    if (isReached(sorted[middle] ?? NaN)) to = middle
    else from = middle + 1
  }
  return from
}

/** The share of the pairs that exceed a score. */
export type RatePoint = { readonly score: number; readonly fmr: number }

/** Returns twenty points per power of ten, down to the rate of ten pairs, for a curve. */
export function countedRates(scores: Float32Array): RatePoint[] {
  const decades = Math.log10(scores.length / 10)
  const fmrs = Array.from(
    { length: Math.floor(decades * 20) },
    (_, step) => 10 ** (-(step + 1) / 20),
  )
  return fmrs.map((fmr) => ({ fmr, score: scoreAtFar(scores, fmr) }))
}
