import assert from 'node:assert/strict'
import { squaredDistance } from '../../lib/density/vectors.ts'
import { roundTo } from '../../lib/round-to.ts'
import type { Template } from '../../vision/embed/template.ts'
import type { StoredCalibration } from './read-calibration.ts'

/** A calibration, and what the installed model states about it. */
export type Calibration = StoredCalibration & {
  /**
   * The origin of the rows of the cohort that represent people unlike those of the set. Without such
   * rows, the table holds only for pictures like those of the set.
   */
  readonly populations?: string | undefined
}

/** Returns the similarity of two compared templates, 0..1; 1 only if they are identical. */
export function similarityOfScore(
  compared: { readonly score: number; readonly isIdentical: boolean },
  calibration: Calibration,
): number {
  if (compared.isIdentical) return 1
  return Math.min(similarityAt(compared.score, calibration), differentSimilarityMax)
}

/**
 * Returns the score of two faces: −distance² − ½(density + density). A higher score means more
 * similar. The densities lower the scores of faces that are similar to very many others
 * (`TemplateVector` explains them).
 */
export function scoreOf(a: Template, b: Template): number {
  assert.equal(a.modelId, b.modelId, 'templates of different models cannot be compared')
  return correctedScore(a, b)
}

const similaritySteps = 1e4

/**
 * Returns a similarity with four decimals, rounded down. A match is decided on this value, so that a
 * response never contradicts itself; with a threshold of up to four decimals, rounding down changes no
 * decision, and it never turns a similarity below 1 into 1.
 */
export function roundSimilarity(similarity: number): number {
  const steps = Math.round(similarity * similaritySteps)
  const nearest = steps / similaritySteps
  return nearest > similarity ? (steps - 1) / similaritySteps : nearest
}

/** The highest similarity of templates that are not identical. */
const differentSimilarityMax = 0.9999

/** Returns the similarity for a score: piecewise linear, monotonic, within 0..1. */
export function similarityAt(score: number, calibration: Calibration): number {
  return interpolate(knotsOf(calibration), score)
}

/** Returns the score for a similarity, to compare scores with. Inverse of `similarityAt`. */
export function scoreAt(similarity: number, calibration: Calibration): number {
  const knots = knotsOf(calibration).map(([score, ofScore]): Knot => [ofScore, score])
  return interpolate(knots, similarity)
}

/**
 * Returns the share of impostor pairs that reach a similarity, for example 1e-3 at 0.70. Beyond the
 * last anchor it is the rate of that anchor, which is an upper limit.
 */
export function fmrAt(similarity: number): number {
  return 10 ** -interpolate(rateKnots, similarity)
}

/** Returns the similarity that impostor pairs reach with the rate `fmr`. Inverse of `fmrAt`. */
export function similarityAtFmr(fmr: number): number {
  return interpolate(similarityKnots, -Math.log10(fmr))
}

/**
 * Returns the threshold at which about 1 % of searches for people who are not enrolled return a
 * false match. Each of the `gallerySize` subjects can be a false match, so the rate of a single
 * comparison must be that many times smaller.
 */
export function autoThreshold(gallerySize: number): number {
  const similarity = similarityAtFmr(falseIdentificationRate / Math.max(1, gallerySize))
  return roundTo(Math.min(autoMax, Math.max(autoMin, similarity)), 4)
}

const falseIdentificationRate = 1e-2
/** A lower match is too uncertain, even in the smallest gallery. */
const autoMin = 0.8
/** No calibration was measured above this similarity. */
const autoMax = 0.95

/** The rate at each similarity, the same for all models: +0.1 per power of ten, then +0.05. */
const anchors = [
  { fmr: 1, similarity: 0 },
  { fmr: 1e-1, similarity: 0.5 },
  { fmr: 1e-2, similarity: 0.6 },
  { fmr: 1e-3, similarity: 0.7 },
  { fmr: 1e-4, similarity: 0.8 },
  { fmr: 1e-5, similarity: 0.9 },
  { fmr: 1e-6, similarity: 0.95 },
]

/** The rates for which a calibration contains a score. */
export const calibratedFmrs: readonly number[] = anchors.slice(1).map(({ fmr }) => fmr)

/** From the score to the similarity. */
function knotsOf({ points, lowestScore, identicalScore }: Calibration): readonly Knot[] {
  const measured = points.map(({ fmr, score }): Knot => [score, similarityAtFmr(fmr)])
  return [[lowestScore, 0], ...measured, [identicalScore, 1]]
}

type Knot = readonly [x: number, y: number]

/** From the similarity to the negative decimal logarithm of the rate, and back. */
const rateKnots = anchors.map(({ fmr, similarity }): Knot => [similarity, -Math.log10(fmr)])
const similarityKnots = rateKnots.map(([similarity, rate]): Knot => [rate, similarity])

/** Returns y at `x` on the lines between the knots (x rising); outside, the y of the end knot. */
function interpolate(knots: readonly Knot[], x: number): number {
  assert.ok(!Number.isNaN(x), 'the value is a number')
  // 0 before the first knot; −1 after the last one, which `at` then returns.
  const above = knots.findIndex(([knotX]) => knotX >= x)
  const [toX, toY] = knots.at(above) ?? [x, x]
  const [fromX, fromY] = knots[above - 1] ?? [toX, toY]
  return above <= 0 || toX === fromX ? toY : fromY + ((toY - fromY) * (x - fromX)) / (toX - fromX)
}

/** The part of a template that scores are computed from. */
export type TemplateVector = {
  readonly vector: Float32Array
  /** Mean score of the vector against its nearest impostors of a fixed cohort. */
  readonly density: number
}

/**
 * Returns the density-corrected score s′ = −|a−b|² − ½(r(a) + r(b)), where r is the density. A
 * higher score means more similar. This is cross-domain similarity local scaling (Conneau et al.,
 * 2018): a face that is similar to very many faces gets lower scores.
 */
export function correctedScore(a: TemplateVector, b: TemplateVector): number {
  return -squaredDistance(a.vector, b.vector) - (a.density + b.density) / 2
}

/** Whether two templates were created from the same pixels by the same model. */
export function isIdentical(a: TemplateVector, b: TemplateVector): boolean {
  return a.density === b.density && squaredDistance(a.vector, b.vector) === 0
}

/** The vision pipeline returns 128 to 512; the integer sums of the scan kernel allow 1024. */
const dimensionsMax = 1_024
/** Far above the values of any embedding; its square is far below the largest float32. */
const valueMax = 1e15

/** @throws AssertionError if the index cannot store the vector or the scan cannot compare it. */
export function assertTemplateVector({ vector, density }: TemplateVector): void {
  assert.ok(vector.length > 0 && vector.length <= dimensionsMax, `${vector.length} dimensions`)
  assert.ok(Math.abs(density) <= valueMax, 'the density is a finite number')
  for (let index = 0; index < vector.length; index++)
    if (!(Math.abs(vector[index] ?? Number.NaN) <= valueMax)) assert.fail('all values are finite')
}
