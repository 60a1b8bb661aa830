import { autoThreshold, fmrAt, scoreAt } from '../../gallery/calibration/similarity.ts'
import type { Calibration } from '../../gallery/calibration/similarity.ts'
import { shareAbove } from '../../gallery/calibration/measure/sorted-scores.ts'
import type { PairScores } from './pair-scores.ts'

/** A threshold of the service. */
export type DecisionLevel = {
  /** `auto` is the threshold for a gallery of `gallerySize` subjects. */
  readonly threshold: number | 'auto'
  readonly gallerySize: number | null
  readonly similarity: number
  /** The score of the similarity in the calibration table. */
  readonly score: number
}

/** The rates of single comparisons at a threshold. */
export type DecisionRates = ReturnType<typeof decisionRates>[number]

/** The anchors of the match levels: low, medium, high and veryHigh. */
const fixedThresholds = [0.7, 0.8, 0.9, 0.95]

/** Returns the fixed thresholds of the service; empty without a calibration table. */
export function fixedLevels(calibration: Calibration | undefined): DecisionLevel[] {
  if (!calibration) return []
  return fixedThresholds.map((similarity) => ({
    threshold: similarity,
    gallerySize: null,
    similarity,
    score: scoreAt(similarity, calibration),
  }))
}

/** Returns the automatic threshold of a gallery; empty without a calibration table. */
export function autoLevels(
  calibration: Calibration | undefined,
  gallerySize: number,
): DecisionLevel[] {
  if (!calibration) return []
  const similarity = autoThreshold(gallerySize)
  return [{ threshold: 'auto', gallerySize, similarity, score: scoreAt(similarity, calibration) }]
}

/** Returns the rates of all pairs at each level. */
export function decisionRates({ genuine, impostor }: PairScores, levels: readonly DecisionLevel[]) {
  return levels.map((level) => {
    const [fmr, matchShare] = [shareAbove(impostor, level.score), shareAbove(genuine, level.score)]
    return {
      ...level,
      /** The false-match rate that the service states for this similarity. */
      statedFmr: fmrAt(level.similarity),
      falseMatches: Math.round(fmr * impostor.length),
      /** Share of the pairs of different people that match. */
      fmr,
      falseNonMatches: Math.round((1 - matchShare) * genuine.length),
      /** Share of the pairs of one person that do not match. */
      fnmr: 1 - matchShare,
    }
  })
}
