import { roundTo } from '../../../lib/round-to.ts'
import type { CalibrationPoint } from '../read-calibration.ts'
import { scoreAt, similarityAtFmr, type Calibration } from '../similarity.ts'
import { buildCalibration, type CalibrationSet } from './build-calibration.ts'

export type GalleryTableOptions = {
  /** The scores of pairs of different subjects, ascending. */
  readonly scores: Float32Array
  /** The scores of templates against themselves. */
  readonly identicalScores: readonly number[]
  readonly set: Omit<CalibrationSet, 'countedPairsMin'>
  /** The table of the model. */
  readonly shipped: Calibration
  /** The lowest rate that the gallery supports. */
  readonly lowestFmr: number
  /** What was compared and left out, for the description of the method. */
  readonly notes: readonly string[]
}

/** 200 subjects with one template have 19,900 pairs, of which 19.9 reach the score of 1e-3. */
const countedPairsMin = 19

/**
 * Builds the table of a gallery. Below the lowest supported rate, each step is that of the model's
 * table, or that of the fitted tail if it is larger. Such a similarity is as strict as measurements
 * allow, but its rate was not measured on this gallery.
 */
export function buildGalleryTable(options: GalleryTableOptions): Calibration {
  const { scores, identicalScores, set, shipped, lowestFmr, notes } = options
  const pairs = { genuine: new Float32Array(0), impostor: scores }
  const built = buildCalibration(pairs, identicalScores, { ...set, countedPairsMin })
  const points: CalibrationPoint[] = []
  for (const [index, point] of built.points.entries()) {
    const [previous, builtBefore] = [points[index - 1], built.points[index - 1]]
    if (!previous || !builtBefore || point.fmr >= lowestFmr * 0.999) points.push(point)
    else {
      const ownStep = point.score - builtBefore.score
      const shippedStep = shippedScore(shipped, point.fmr) - shippedScore(shipped, previous.fmr)
      const score = roundTo(previous.score + Math.max(ownStep, shippedStep), 4)
      points.push({ fmr: point.fmr, score, source: 'model' })
    }
  }
  const highest = points.at(-1)?.score ?? 0
  return {
    ...built,
    method: [built.method, ...notes].join('; '),
    points,
    identicalScore: Math.max(built.identicalScore, roundTo(highest + 0.01, 4)),
  }
}

/** Returns the score of a rate in the table of the model. */
export function shippedScore(shipped: Calibration, fmr: number): number {
  return scoreAt(similarityAtFmr(fmr), shipped)
}
