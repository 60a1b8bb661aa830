import { roundTo } from '../../../lib/round-to.ts'
import { type Calibration, calibratedFmrs } from '../similarity.ts'
import type { CalibrationPoint } from '../read-calibration.ts'
import { CalibrationRefusal } from './calibration-refusal.ts'
import { countBelow, scoreAtFar } from './sorted-scores.ts'

/** The description of the measured set in a calibration table. */
export type CalibrationSet = Pick<
  Calibration,
  'modelId' | 'set' | 'measuredOn' | 'people' | 'pictures'
> & {
  /** Replaces `countedPairsMin`. */
  readonly countedPairsMin?: number
}

/** A rate is counted if at least this many pairs reach its score. */
export const countedPairsMin = 30

/** Number of highest scores that form the tail: small enough to be the tail, large enough to be stable. */
export const tailSize = 100

/** A set with fewer impostor pairs has no tail: its highest scores are not rare enough. */
export const tailPairsMin = tailSize ** 2

/** @throws CalibrationRefusal when there are fewer than 10,000 impostor pairs. */
export function requireImpostorPairs(count: number): void {
  if (count < tailPairsMin)
    throw new CalibrationRefusal(
      `${count} pairs of different people are too few for a calibration table; ` +
        `at least ${tailPairsMin} are needed`,
    )
}

/**
 * Builds the calibration table, which maps scores to similarities.
 *
 * Rates that the number of impostor pairs can resolve are counted. Other rates are extrapolated with
 * an exponential tail, the usual distribution of the excess over a high threshold (Pickands 1975,
 * shape 0). With N pairs, the rate at score s is `tailSize / N · exp(−(s − u) / β)`. u is the score
 * that `tailSize` pairs exceed, and β is their mean excess. Bounded or thinner tails, the usual case
 * here, fall faster, so extrapolated thresholds are too strict rather than too lenient.
 *
 * @param scores of pairs of one person (`genuine`) and of two people (`impostor`), both ascending.
 * @param identicalScores the score of each image against itself.
 * @throws CalibrationRefusal when there are fewer than 10,000 impostor pairs, or too many have one score.
 */
export function buildCalibration(
  { genuine, impostor }: Readonly<Record<'genuine' | 'impostor', Float32Array>>,
  identicalScores: readonly number[],
  { countedPairsMin: pairsMin = countedPairsMin, ...set }: CalibrationSet,
): Calibration {
  requireImpostorPairs(impostor.length)
  const points = calibratedFmrs.map((fmr) => pointAt(impostor, fmr, pairsMin))
  requireDistinctScores(impostor, points)
  const highest = points.at(-1)?.score ?? 0
  return {
    ...set,
    impostorPairs: impostor.length,
    genuinePairs: genuine.length,
    method:
      `counted where at least ${pairsMin} pairs reach the score; beyond, an exponential tail ` +
      `fitted to the ${tailSize} highest scores`,
    points,
    lowestScore: roundTo(impostor[0] ?? 0, 4),
    identicalScore: Math.max(
      roundTo(
        identicalScores.reduce((least, score) => Math.min(least, score), Infinity),
        4,
      ),
      roundTo(highest + 0.01, 4),
    ),
  }
}

/**
 * A match reaches the score of a rate. Of equal scores, far more pairs reach it than the rate states.
 * The factor of two leaves room for the rounding of scores and for the pair at the score itself.
 *
 * @throws CalibrationRefusal when more than twice as many impostor pairs reach a counted score.
 */
function requireDistinctScores(impostor: Float32Array, points: readonly CalibrationPoint[]): void {
  for (const { fmr, score, source } of points) {
    const reached = 1 - countBelow(impostor, score) / impostor.length
    if (source === 'counted' && reached > 2 * fmr)
      throw new CalibrationRefusal(
        `${(100 * reached).toFixed(2)} % of the pairs of different people reach the score of a ` +
          `false-match rate of ${fmr}: too many pairs have the same score to four decimals; ` +
          'check the network of the recognizer and its input',
      )
  }
}

function pointAt(impostor: Float32Array, fmr: number, pairsMin: number): CalibrationPoint {
  const isCounted = fmr * impostor.length >= pairsMin
  const score = isCounted ? scoreAtFar(impostor, fmr) : tailScore(impostor, fmr)
  return { fmr, score: roundTo(score, 4), source: isCounted ? 'counted' : 'extrapolated' }
}

/**
 * Returns the extrapolated score at the rate `fmr`. `impostor` is ascending and has at least
 * `tailPairsMin` scores.
 */
export function tailScore(impostor: Float32Array, fmr: number): number {
  const threshold = impostor.at(-1 - tailSize) ?? 0
  const tail = impostor.subarray(-tailSize)
  const meanExcess = tail.reduce((sum, score) => sum + score - threshold, 0) / tailSize
  return threshold + meanExcess * Math.log(tailSize / impostor.length / fmr)
}
