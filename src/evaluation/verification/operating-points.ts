import {
  countBelow,
  countUpTo,
  scoreAtFar,
  shareAbove,
} from '../../gallery/calibration/measure/sorted-scores.ts'
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

/** Returns the probability that a genuine pair scores above an impostor pair; ties count half. */
export function areaUnderCurve({ genuine, impostor }: PairScores): number {
  let sum = 0
  for (const score of genuine) sum += (countBelow(impostor, score) + countUpTo(impostor, score)) / 2
  return sum / (genuine.length * impostor.length)
}
