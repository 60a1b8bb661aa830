import { similarityAt } from '../../gallery/calibration/similarity.ts'
import type { Calibration } from '../../gallery/calibration/similarity.ts'
import type { Template } from '../../vision/embed/template.ts'
import { foldAccuracy } from './fold-accuracy.ts'
import type { FoldAccuracy, ScoredPair } from './fold-accuracy.ts'
import { areaUnderCurve, operatingPoints, shareAbove } from './operating-points.ts'
import type { OperatingPoint } from './operating-points.ts'
import { scoreAllPairs, scorers } from './pair-scores.ts'
import type { PersonTemplate, Scorer, PairScores } from './pair-scores.ts'
import { measureSearch } from './measure-search.ts'
import type { SearchMetrics } from './measure-search.ts'
import type { FaceSet, LabelledPair } from '../face-set.ts'
import type { ExtractedTemplate } from './extract-templates.ts'

export type VerificationReport = {
  readonly modelId: string
  readonly pictures: number
  readonly people: number
  /** Images without a template, and the reason. A pair with such an image never matches. */
  readonly unusable: readonly { readonly file: string; readonly reason: string }[]
  /** Results with the score of the service (`corrected`) and with the distance alone (`raw`). */
  readonly corrected: VerificationMetrics
  readonly raw: VerificationMetrics
  /** Rates measured at each similarity of the calibration table; empty without a table. */
  readonly similarity: readonly SimilarityMetrics[]
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
  /** Only the rates that the number of impostor pairs can resolve. */
  readonly points: readonly OperatingPoint[]
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
  readonly faces: readonly PersonTemplate[]
  /** Scores of all pairs, for curves and calibration tables. */
  readonly scores: Readonly<Record<keyof typeof scorers, PairScores>>
  /** Score of each template against itself. */
  readonly identical: readonly number[]
}

/** The reported false acceptance rates. */
const fars = [1e-2, 1e-3, 1e-4, 1e-5]

export type VerificationOptions = {
  /** The calibration table of the model. Without it, the report has no similarities. */
  readonly calibration: Calibration | undefined
  readonly onProgress?: (done: number, total: number) => void
}

/** Measures how well templates separate people. `templates` holds one entry per image of `set`. */
export function evaluateVerification(
  set: FaceSet,
  templates: readonly ExtractedTemplate[],
  { calibration, onProgress = () => undefined }: VerificationOptions,
): VerificationResult {
  const faces = set.images.flatMap(({ person }, index): PersonTemplate[] => {
    const template = templateAt(templates, index)
    return template ? [{ person, template }] : []
  })
  const modelId = faces[0]?.template.modelId
  if (modelId === undefined) throw new Error('no face was found in any image')
  const scores = {
    corrected: scoreAllPairs(faces, scorers.corrected, onProgress),
    raw: scoreAllPairs(faces, scorers.raw),
  }
  if (scores.raw.genuine.length === 0 || scores.raw.impostor.length === 0)
    throw new Error('the set needs two people and two images of one of them')
  const metricsOf = (scorer: keyof typeof scorers): VerificationMetrics => ({
    pairs: set.pairs ? measureListedPairs(set.pairs, templates, scorers[scorer]) : null,
    allPairs: pairMetrics(scores[scorer]),
    search: measureSearch(faces, scorers[scorer]),
  })
  const report = {
    modelId,
    pictures: set.images.length,
    people: new Set(set.images.map(({ person }) => person)).size,
    unusable: set.images.flatMap(({ file }, index) => {
      const template = templates[index]
      return template && 'unusable' in template ? [{ file, reason: template.unusable }] : []
    }),
    corrected: metricsOf('corrected'),
    raw: metricsOf('raw'),
    similarity: similarityMetrics(scores.corrected, calibration),
  }
  const identical = faces.map(({ template }) => scorers.corrected(template, template))
  return { report, faces, scores, identical }
}

function templateAt(templates: readonly ExtractedTemplate[], index: number): Template | undefined {
  const template = templates[index]
  return template && 'vector' in template ? template : undefined
}

function measureListedPairs(
  pairs: readonly LabelledPair[],
  templates: readonly ExtractedTemplate[],
  score: Scorer,
): PairMetrics & FoldAccuracy {
  const scored = pairs.map(({ a, b, same }): ScoredPair => {
    const [left, right] = [templateAt(templates, a), templateAt(templates, b)]
    return { same, score: left && right ? score(left, right) : -Infinity }
  })
  const scoresOf = (isSame: boolean): Float32Array =>
    Float32Array.from(
      scored.filter(({ same }) => same === isSame),
      (pair) => pair.score,
    ).sort()
  return {
    ...pairMetrics({ genuine: scoresOf(true), impostor: scoresOf(false) }),
    ...foldAccuracy(scored),
  }
}

function pairMetrics(scores: PairScores): PairMetrics {
  return {
    genuine: scores.genuine.length,
    impostor: scores.impostor.length,
    areaUnderCurve: areaUnderCurve(scores),
    points: operatingPoints(scores, fars),
  }
}

function similarityMetrics(
  { genuine, impostor }: PairScores,
  calibration: Calibration | undefined,
): SimilarityMetrics[] {
  if (!calibration) return []
  return calibration.points.map(({ score }) => ({
    similarity: similarityAt(score, calibration),
    fmr: shareAbove(impostor, score),
    fnmr: 1 - shareAbove(genuine, score),
  }))
}
