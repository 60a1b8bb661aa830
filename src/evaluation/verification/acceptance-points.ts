import {
  countedPairsMin,
  tailPairsMin,
  tailScore,
} from '../../gallery/calibration/measure/build-calibration.ts'
import {
  countBelow,
  countUpTo,
  scoreAtFar,
  shareAbove,
} from '../../gallery/calibration/measure/sorted-scores.ts'
import type { PairScores } from './pair-scores.ts'

/** The acceptance of genuine pairs at one false acceptance rate. */
export type AcceptancePoint = {
  /** False acceptance rate, 0..1. */
  readonly far: number
  /**
   * - `counted`: at least 30 impostor pairs are accepted at this rate.
   * - `extrapolated`: fewer pairs; the score comes from an exponential tail of the highest scores.
   * - `notMeasurable`: the set has too few impostor pairs.
   */
  readonly source: 'counted' | 'extrapolated' | 'notMeasurable'
  /** The number of impostor pairs that are accepted at this rate. */
  readonly impostorsAccepted: number
  /** The number of impostor pairs from which on the rate is counted. */
  readonly impostorsNeeded: number
  /** Pairs that score above it match; null if the rate is not measurable. */
  readonly score: number | null
  /** Share of the genuine pairs that match; null if the rate is not measurable. */
  readonly tar: number | null
  /** The point counted from fewer than 30 accepted pairs: a rough value. Null in all other cases. */
  readonly fewPairs: Pick<OperatingPoint, 'score' | 'tar'> | null
}

/** The reported false acceptance rates. */
const reportedFars = [1e-2, 1e-3, 1e-4, 1e-5, 1e-6]

/** The tail is extrapolated to two decades below the last counted rate. */
const extrapolatedFactorMax = 100

/** Returns one point for each reported rate. `scores` needs a genuine and an impostor pair. */
export function acceptancePoints(scores: PairScores): AcceptancePoint[] {
  const pairCount = scores.impostor.length
  return reportedFars.map((far) => {
    const [counted] = operatingPoints(scores, [far])
    const impostorsNeeded = Math.round(countedPairsMin / far)
    const point = { far, impostorsAccepted: Math.floor(far * pairCount), impostorsNeeded }
    if (counted && pairCount >= impostorsNeeded)
      return { ...point, source: 'counted', score: counted.score, tar: counted.tar, fewPairs: null }
    const fewPairs = counted ? { score: counted.score, tar: counted.tar } : null
    if (pairCount < Math.max(tailPairsMin, impostorsNeeded / extrapolatedFactorMax))
      return { ...point, source: 'notMeasurable', score: null, tar: null, fewPairs }
    const score = tailScore(scores.impostor, far)
    const tar = shareAbove(scores.genuine, score)
    return { ...point, source: 'extrapolated', score, tar, fewPairs }
  })
}

/** One operating point: pairs that score above `score` match. */
export type OperatingPoint = ReturnType<typeof operatingPoints>[number]

/**
 * Returns the operating points of `fars`. Rates that the number of impostor pairs cannot resolve are
 * left out: a rate of one in a thousand needs a thousand pairs. `tar` is the share of the genuine pairs
 * that match.
 *
 * @param fars requested false acceptance rates, 0..1.
 */
export function operatingPoints(scores: PairScores, fars: readonly number[]) {
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
