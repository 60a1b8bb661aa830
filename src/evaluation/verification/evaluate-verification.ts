import { similarityAt } from '../../gallery/calibration/similarity.ts'
import type { Calibration } from '../../gallery/calibration/similarity.ts'
import type { Template } from '../../vision/image-analysis.ts'
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
  /** Pictures without a template, and why; a pair with one of them never matches. */
  readonly unusable: readonly { readonly file: string; readonly reason: string }[]
  /** By the score of the service, and by distance alone. */
  readonly corrected: VerificationMetrics
  readonly raw: VerificationMetrics
  /** What the table of similarities promises and what the set shows; without a table, empty. */
  readonly similarity: readonly SimilarityMetrics[]
}

export type VerificationMetrics = {
  /** The listed pairs; `null` where the set lists none. */
  readonly pairs: (PairMetrics & FoldAccuracy) | null
  /** Every picture against every other. */
  readonly allPairs: PairMetrics
  readonly search: readonly SearchMetrics[]
}

export type PairMetrics = {
  readonly genuine: number
  readonly impostor: number
  readonly areaUnderCurve: number
  /** At the rates that the impostor pairs resolve. */
  readonly points: readonly OperatingPoint[]
}

export type SimilarityMetrics = {
  readonly similarity: number
  /** Share of all pairs of strangers that reach it. */
  readonly fmr: number
  /** Share of all pairs of one person that do not. */
  readonly fnmr: number
}

export type VerificationResult = {
  readonly report: VerificationReport
  /** Of the pictures that have one. */
  readonly faces: readonly PersonTemplate[]
  /** Of all pairs, for curves and tables. */
  readonly scores: Readonly<Record<keyof typeof scorers, PairScores>>
  /** What each template scores against itself. */
  readonly identical: readonly number[]
}

/** The false acceptance rates that are reported. */
const fars = [1e-2, 1e-3, 1e-4, 1e-5]

export type VerificationOptions = {
  /** The table of the templates' model; without it nothing is said of similarities. */
  readonly calibration: Calibration | undefined
  readonly onProgress?: (done: number, total: number) => void
}

/** Measures how well templates tell people apart: `gathered` belongs to the pictures of `set`. */
export function evaluateVerification(
  set: FaceSet,
  gathered: readonly ExtractedTemplate[],
  { calibration, onProgress = () => undefined }: VerificationOptions,
): VerificationResult {
  const faces = set.pictures.flatMap(({ person }, index): PersonTemplate[] => {
    const template = templateAt(gathered, index)
    return template ? [{ person, template }] : []
  })
  const modelId = faces[0]?.template.modelId
  if (modelId === undefined) throw new Error('no picture shows a face')
  const scores = {
    corrected: scoreAllPairs(faces, scorers.corrected, onProgress),
    raw: scoreAllPairs(faces, scorers.raw),
  }
  if (scores.raw.genuine.length === 0 || scores.raw.impostor.length === 0)
    throw new Error('the set needs two people, and two pictures of one of them')
  const figures = (by: keyof typeof scorers): VerificationMetrics => ({
    pairs: set.pairs ? measureListedPairs(set.pairs, gathered, scorers[by]) : null,
    allPairs: pairMetrics(scores[by]),
    search: measureSearch(faces, scorers[by]),
  })
  const report = {
    modelId,
    pictures: set.pictures.length,
    people: new Set(set.pictures.map(({ person }) => person)).size,
    unusable: set.pictures.flatMap(({ file }, index) => {
      const found = gathered[index]
      return found && 'unusable' in found ? [{ file, reason: found.unusable }] : []
    }),
    corrected: figures('corrected'),
    raw: figures('raw'),
    similarity: similarityMetrics(scores.corrected, calibration),
  }
  const identical = faces.map(({ template }) => scorers.corrected(template, template))
  return { report, faces, scores, identical }
}

function templateAt(gathered: readonly ExtractedTemplate[], index: number): Template | undefined {
  const found = gathered[index]
  return found && 'vector' in found ? found : undefined
}

function measureListedPairs(
  pairs: readonly LabelledPair[],
  gathered: readonly ExtractedTemplate[],
  score: Scorer,
): PairMetrics & FoldAccuracy {
  const scored = pairs.map(({ a, b, same }): ScoredPair => {
    const [left, right] = [templateAt(gathered, a), templateAt(gathered, b)]
    return { same, score: left && right ? score(left, right) : -Infinity }
  })
  const scoresOf = (wanted: boolean): Float32Array =>
    Float32Array.from(
      scored.filter(({ same }) => same === wanted),
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
