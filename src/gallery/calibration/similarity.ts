import assert from 'node:assert/strict'
import type { Template } from '../../vision/image-analysis.ts'
import { correctedScore, squaredDistance } from './score.ts'

/**
 * What the scores of one recognition model mean: which score strangers reach how often. Data, one
 * table for each model, made by `facegate evaluate verification --calibrate`.
 */
export type Calibration = {
  /** "model@version" of the templates that it is for. */
  readonly modelId: string
  /** The set of pictures, in words. */
  readonly set: string
  /** ISO 8601 date. */
  readonly measuredOn: string
  readonly people: number
  readonly pictures: number
  readonly impostorPairs: number
  readonly genuinePairs: number
  /** How the scores were obtained, above all those that the pairs are too few to count. */
  readonly method: string
  /** The score that no more than `fmr` of all pairs of strangers reach; falling rates. */
  readonly points: readonly CalibrationPoint[]
  /** The lowest score of any pair: similarity 0. */
  readonly lowestScore: number
  /** The lowest score of any picture against itself: similarity 1. */
  readonly identicalScore: number
}

export type CalibrationPoint = {
  /** False-match rate, 0..1. */
  readonly fmr: number
  readonly score: number
  /** Counted on the pairs, or taken from the fitted tail. */
  readonly source: 'counted' | 'extrapolated'
}

export type MatchLevel = 'none' | 'low' | 'medium' | 'high' | 'veryHigh'

/**
 * The similarity of two faces, 0..1: symmetric, and 1 for a template and itself.
 *
 * @throws AssertionError when the templates or the table are of different models.
 */
export function similarityOf(a: Template, b: Template, calibration: Calibration): number {
  assert.equal(a.modelId, calibration.modelId, 'the table is for this model')
  const isIdentical = a.density === b.density && squaredDistance(a.vector, b.vector) === 0
  return isIdentical ? 1 : similarityAt(scoreOf(a, b), calibration)
}

/**
 * The score of two faces: −distance² − ½(density + density), higher for more alike. Its density
 * terms lower the scores of faces that look like everybody (vision/template.ts says how).
 */
export function scoreOf(a: Template, b: Template): number {
  assert.equal(a.modelId, b.modelId, 'templates of different models do not compare')
  return correctedScore(a, b)
}

/** The similarity that `score` means: piecewise linear, never falling, within 0..1. */
export function similarityAt(score: number, calibration: Calibration): number {
  const knots = knotsOf(calibration)
  return interpolate(
    knots.map((knot) => [knot.score, knot.similarity]),
    score,
  )
}

/** The score that `similarity` stands for: what to compare scores with. Inverse of `similarityAt`. */
export function scoreAt(similarity: number, calibration: Calibration): number {
  const knots = knotsOf(calibration)
  return interpolate(
    knots.map((knot) => [knot.similarity, knot.score]),
    similarity,
  )
}

/** How often strangers reach `similarity`: 1e-3 at 0.70. Beyond the last anchor: its rate at most. */
export function fmrAt(similarity: number): number {
  return (
    10 **
    interpolate(
      anchors.map((anchor) => [anchor.similarity, Math.log10(anchor.fmr)]),
      similarity,
    )
  )
}

/** The similarity that strangers reach with the rate `fmr`: inverse of `fmrAt`. */
export function similarityAtFmr(fmr: number): number {
  const falling = anchors.map((anchor): Knot => [-Math.log10(anchor.fmr), anchor.similarity])
  return interpolate(falling, -Math.log10(fmr))
}

export function matchLevelOf(similarity: number): MatchLevel {
  if (similarity < 0.7) return 'none'
  if (similarity < 0.8) return 'low'
  if (similarity < 0.9) return 'medium'
  return similarity < 0.95 ? 'high' : 'veryHigh'
}

/**
 * The threshold for one in a hundred searches to name a stranger: each of the `gallerySize`
 * subjects has its chance to, so the rate for one comparison is that much smaller.
 */
export function autoThreshold(gallerySize: number): number {
  const similarity = similarityAtFmr(falseIdentificationRate / Math.max(1, gallerySize))
  return Math.min(autoMax, Math.max(autoMin, similarity))
}

const falseIdentificationRate = 1e-2
/** Below it a match says too little, however small the gallery. */
const autoMin = 0.8
/** Above it no table is measured. */
const autoMax = 0.95

/** What a similarity promises, whatever the model: a tenth for every power of ten, then half. */
const anchors = [
  { fmr: 1, similarity: 0 },
  { fmr: 1e-1, similarity: 0.5 },
  { fmr: 1e-2, similarity: 0.6 },
  { fmr: 1e-3, similarity: 0.7 },
  { fmr: 1e-4, similarity: 0.8 },
  { fmr: 1e-5, similarity: 0.9 },
  { fmr: 1e-6, similarity: 0.95 },
]

/** The rates that a table has a score for. */
export const calibratedFmrs: readonly number[] = anchors.slice(1).map(({ fmr }) => fmr)

function knotsOf({ points, lowestScore, identicalScore }: Calibration) {
  return [
    { score: lowestScore, similarity: 0 },
    ...points.map(({ fmr, score }) => ({ score, similarity: similarityAtFmr(fmr) })),
    { score: identicalScore, similarity: 1 },
  ]
}

type Knot = readonly [x: number, y: number]

/** y at `x` on the lines between the knots (x rising); beyond the ends, the end's y. */
function interpolate(knots: readonly Knot[], x: number): number {
  assert.ok(!Number.isNaN(x), 'only numbers lie on a scale')
  // −1 beyond the last knot, which `at` then gives; 0 before the first.
  const above = knots.findIndex(([knotX]) => knotX >= x)
  const [toX, toY] = knots.at(above) ?? [x, x]
  const [fromX, fromY] = knots[above - 1] ?? [toX, toY]
  return above <= 0 || toX === fromX ? toY : fromY + ((toY - fromY) * (x - fromX)) / (toX - fromX)
}
