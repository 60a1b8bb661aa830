import type { PairScores } from './pair-scores.ts'

/** One working point: everything above `score` matches. */
export type OperatingPoint = {
  /** False acceptance rate asked for, 0..1. */
  readonly far: number
  /** Share of the genuine pairs that match. */
  readonly tar: number
  readonly score: number
}

/**
 * The working points of `fars`; those that the impostor pairs are too few to resolve are left out:
 * a rate of one in a thousand needs a thousand pairs.
 */
export function operatingPoints(scores: PairScores, fars: readonly number[]): OperatingPoint[] {
  return fars
    .filter((far) => far * scores.impostor.length >= 1)
    .map((far) => {
      const score = scoreAtFar(scores.impostor, far)
      return { far, score, tar: shareAbove(scores.genuine, score) }
    })
}

/** The score that at most `far` of the impostor scores are above. */
export function scoreAtFar(impostor: Float32Array, far: number): number {
  return impostor.at(-1 - Math.floor(far * impostor.length)) ?? impostor[0] ?? -Infinity
}

/** The share of `sorted` (rising) that is above `score`. */
export function shareAbove(sorted: Float32Array, score: number): number {
  return (sorted.length - countUpTo(sorted, score)) / sorted.length
}

/** Area under the curve: the chance that a genuine pair scores above an impostor pair, ties half. */
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

/** The first place where `isReached` holds, by bisection; the length when it never does. */
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
