import type { PairScores } from './pair-scores.ts'

/** One operating point: pairs that score above `score` match. */
export type OperatingPoint = {
  /** Requested false acceptance rate, 0..1. */
  readonly far: number
  /** Share of the genuine pairs that match. */
  readonly tar: number
  readonly score: number
}

/**
 * Returns the operating points of `fars`. Rates that the number of impostor pairs cannot resolve are
 * left out: a rate of one in a thousand needs a thousand pairs.
 */
export function operatingPoints(scores: PairScores, fars: readonly number[]): OperatingPoint[] {
  return fars
    .filter((far) => far * scores.impostor.length >= 1)
    .map((far) => {
      const score = scoreAtFar(scores.impostor, far)
      return { far, score, tar: shareAbove(scores.genuine, score) }
    })
}

/** Returns the score that at most the share `far` of the impostor scores exceeds. */
export function scoreAtFar(impostor: Float32Array, far: number): number {
  return impostor.at(-1 - Math.floor(far * impostor.length)) ?? impostor[0] ?? -Infinity
}

/** Returns the share of `sorted` (ascending) that is above `score`. */
export function shareAbove(sorted: Float32Array, score: number): number {
  return (sorted.length - countUpTo(sorted, score)) / sorted.length
}

/** Returns the probability that a genuine pair scores above an impostor pair; ties count half. */
export function areaUnderCurve({ genuine, impostor }: PairScores): number {
  let sum = 0
  for (const score of genuine) sum += (countBelow(impostor, score) + countUpTo(impostor, score)) / 2
  return sum / (genuine.length * impostor.length)
}

function countUpTo(sorted: Float32Array, score: number): number {
  return lowerBound(sorted, (value) => value > score)
}

function countBelow(sorted: Float32Array, score: number): number {
  return lowerBound(sorted, (value) => value >= score)
}

/** Returns the first index where `isReached` is true, by bisection; the length if there is none. */
function lowerBound(sorted: Float32Array, isReached: (value: number) => boolean): number {
  let from = 0
  let to = sorted.length
  while (from < to) {
    const middle = (from + to) >>> 1
    if (isReached(sorted[middle] ?? NaN)) to = middle
    else from = middle + 1
  }
  return from
}
