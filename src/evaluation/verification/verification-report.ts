import type { Calibration } from '../../gallery/calibration/similarity.ts'
import type { UnusableImage } from '../read-image.ts'
import type { AcceptancePoint } from './acceptance-points.ts'
import type { DecisionRates } from './decision-levels.ts'
import type { FoldAccuracy } from './fold-accuracy.ts'
import type { GroupedFace, GroupsReport } from './group-counts.ts'
import type { SearchMetrics } from './measure-search.ts'
import type { PairScores, scorers } from './pair-scores.ts'
import type { GroupLabels } from './read-groups.ts'
import type { PairCounts } from './visit-pairs.ts'

export type VerificationReport = {
  readonly modelId: string
  readonly pictures: number
  readonly people: number
  /** Images without a template, and the reason. A pair with such an image never matches. */
  readonly unusable: readonly UnusableImage[]
  /** The number of possible pairs if the set is so large that pairs were sampled; otherwise null. */
  readonly sampledFrom: PairCounts | null
  /** Results with the score of the service (`corrected`) and with the distance alone (`raw`). */
  readonly corrected: VerificationMetrics
  readonly raw: VerificationMetrics
  /** Rates measured at each similarity of the calibration table; empty without a table. */
  readonly similarity: readonly SimilarityMetrics[]
  /** Rates at the thresholds of the service; empty without a table. */
  readonly thresholds: readonly DecisionRates[]
  /** The pairs of two people with the highest scores. Check their labels first. */
  readonly worstImpostors: readonly ExtremePair[]
  /** The pairs of one person with the lowest scores. Check their labels first. */
  readonly worstGenuines: readonly ExtremePair[]
  /** Rates by group; null without groups. */
  readonly groups: GroupsReport | null
}

export type VerificationMetrics = {
  /** The listed pairs; null if the set lists none. */
  readonly pairs: (PairMetrics & FoldAccuracy) | null
  /** Every image against every other image. */
  readonly allPairs: PairMetrics
  readonly search: readonly SearchMetrics[]
}

export type PairMetrics = {
  readonly genuine: number
  readonly impostor: number
  readonly areaUnderCurve: number
  readonly points: readonly AcceptancePoint[]
}

export type SimilarityMetrics = {
  readonly similarity: number
  /** Share of all pairs of different people that reach the similarity. */
  readonly fmr: number
  /** Share of all pairs of one person that do not reach it. */
  readonly fnmr: number
}

export type VerificationResult = {
  readonly report: VerificationReport
  /** The faces of the images that have a template. */
  readonly faces: readonly EvaluatedFace[]
  /** Scores of all pairs, for curves and calibration tables. */
  readonly scores: Readonly<Record<keyof typeof scorers, PairScores>>
  /** Score of each template against itself. */
  readonly identical: readonly number[]
}

/** A face with its image and group. */
export type EvaluatedFace = GroupedFace & { readonly file: string }

export type VerificationOptions = {
  /** The calibration table of the model. Without it, the report has no similarities. */
  readonly calibration: Calibration | undefined
  readonly groups?: GroupLabels | undefined
  readonly onProgress?: (done: number, total: number) => void
}

/** A pair that a threshold is most likely to classify against its label. */
export type ExtremePair = {
  readonly fileA: string
  readonly fileB: string
  readonly score: number
  /** Null without a calibration table. */
  readonly similarity: number | null
}

/** The number of pairs that are listed by name. */
export const extremePairsMax = 20
