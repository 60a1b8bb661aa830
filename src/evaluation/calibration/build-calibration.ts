import { calibratedFmrs } from '../../gallery/calibration/similarity.ts'
import type { Calibration, CalibrationPoint } from '../../gallery/calibration/similarity.ts'
import { scoreAtFar } from '../verification/operating-points.ts'
import type { PairScores } from '../verification/pair-scores.ts'

/** What a table says about its set besides the scores. */
export type CalibrationSet = Pick<
  Calibration,
  'modelId' | 'set' | 'measuredOn' | 'people' | 'pictures'
>

/** A rate is counted where at least this many pairs reach its score. */
const countedPairsMin = 30

/** This many of the highest scores make the tail: few enough to be tail, enough to be steady. */
const tailSize = 100

/**
 * Makes the table that gives scores their meaning.
 *
 * Rates that the impostor pairs resolve are counted. For the others the tail is taken to be
 * exponential, as the excess over a high threshold of most scores is (Pickands 1975, shape 0): of N
 * pairs the rate at score s is `tailSize / N · exp(−(s − u) / β)`, with u the score that `tailSize`
 * pairs exceed and β their mean excess. Bounded or thinner tails, the usual case here, fall faster:
 * the thresholds err on the strict side.
 *
 * @param identicalScores what each picture scores against itself.
 */
export function buildCalibration(
  { genuine, impostor }: PairScores,
  identicalScores: readonly number[],
  set: CalibrationSet,
): Calibration {
  if (impostor.length < tailSize ** 2)
    throw new Error(`${impostor.length} pairs of strangers are too few for a table`)
  const points = calibratedFmrs.map((fmr) => pointAt(impostor, fmr))
  const highest = points.at(-1)?.score ?? 0
  return {
    ...set,
    impostorPairs: impostor.length,
    genuinePairs: genuine.length,
    method:
      `counted where at least ${countedPairsMin} pairs reach the score; beyond, an exponential tail ` +
      `fitted to the ${tailSize} highest scores`,
    points,
    lowestScore: rounded(impostor[0] ?? 0),
    identicalScore: Math.max(rounded(Math.min(...identicalScores)), rounded(highest + 0.01)),
  }
}

function pointAt(impostor: Float32Array, fmr: number): CalibrationPoint {
  const isCounted = fmr * impostor.length >= countedPairsMin
  const score = isCounted ? scoreAtFar(impostor, fmr) : tailScore(impostor, fmr)
  return { fmr, score: rounded(score), source: isCounted ? 'counted' : 'extrapolated' }
}

function tailScore(impostor: Float32Array, fmr: number): number {
  const threshold = impostor.at(-1 - tailSize) ?? 0
  const tail = impostor.subarray(-tailSize)
  const meanExcess = tail.reduce((sum, score) => sum + score - threshold, 0) / tailSize
  return threshold + meanExcess * Math.log(tailSize / impostor.length / fmr)
}

function rounded(score: number): number {
  return Math.round(score * 1e4) / 1e4
}
