import { similarityAt } from '../src/gallery/similarity.ts'
import type { Calibration } from '../src/gallery/similarity.ts'
import type { Template } from '../src/vision/view.ts'
import { foldAccuracy } from './compare/folds.ts'
import type { FoldAccuracy, ScoredPair } from './compare/folds.ts'
import { areaUnderCurve, operatingPoints, shareAbove } from './compare/roc.ts'
import type { OperatingPoint } from './compare/roc.ts'
import { allPairScores, scorers } from './compare/scores.ts'
import type { Face, Scorer, Scores } from './compare/scores.ts'
import { searchFigures } from './compare/search.ts'
import type { SearchFigures } from './compare/search.ts'
import type { FaceSet, LabelledPair } from './face-set.ts'
import type { Gathered } from './gather.ts'

export type VerificationReport = {
  readonly modelId: string
  readonly pictures: number
  readonly people: number
  /** Pictures without a template, and why; a pair with one of them never matches. */
  readonly unusable: readonly { readonly file: string; readonly reason: string }[]
  /** By the score of the service, and by distance alone. */
  readonly corrected: Figures
  readonly raw: Figures
  /** What the table of similarities promises and what the set shows; without a table, empty. */
  readonly similarity: readonly SimilarityFigures[]
}

export type Figures = {
  /** The listed pairs; `null` where the set lists none. */
  readonly pairs: (PairFigures & FoldAccuracy) | null
  /** Every picture against every other. */
  readonly allPairs: PairFigures
  readonly search: readonly SearchFigures[]
}

export type PairFigures = {
  readonly genuine: number
  readonly impostor: number
  readonly areaUnderCurve: number
  /** At the rates that the impostor pairs resolve. */
  readonly points: readonly OperatingPoint[]
}

export type SimilarityFigures = {
  readonly similarity: number
  /** Share of all pairs of strangers that reach it. */
  readonly fmr: number
  /** Share of all pairs of one person that do not. */
  readonly fnmr: number
}

export type Verification = {
  readonly report: VerificationReport
  /** Of the pictures that have one. */
  readonly faces: readonly Face[]
  /** Of all pairs, for curves and tables. */
  readonly scores: Readonly<Record<keyof typeof scorers, Scores>>
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
export function verify(
  set: FaceSet,
  gathered: readonly Gathered[],
  { calibration, onProgress = () => undefined }: VerificationOptions,
): Verification {
  const faces = set.pictures.flatMap(({ person }, index): Face[] => {
    const template = templateAt(gathered, index)
    return template ? [{ person, template }] : []
  })
  const modelId = faces[0]?.template.modelId
  if (modelId === undefined) throw new Error('no picture shows a face')
  const scores = {
    corrected: allPairScores(faces, scorers.corrected, onProgress),
    raw: allPairScores(faces, scorers.raw),
  }
  if (scores.raw.genuine.length === 0 || scores.raw.impostor.length === 0)
    throw new Error('the set needs two people, and two pictures of one of them')
  const figures = (by: keyof typeof scorers): Figures => ({
    pairs: set.pairs ? listedPairs(set.pairs, gathered, scorers[by]) : null,
    allPairs: pairFigures(scores[by]),
    search: searchFigures(faces, scorers[by]),
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
    similarity: similarityFigures(scores.corrected, calibration),
  }
  const identical = faces.map(({ template }) => scorers.corrected(template, template))
  return { report, faces, scores, identical }
}

function templateAt(gathered: readonly Gathered[], index: number): Template | undefined {
  const found = gathered[index]
  return found && 'vector' in found ? found : undefined
}

function listedPairs(
  pairs: readonly LabelledPair[],
  gathered: readonly Gathered[],
  score: Scorer,
): PairFigures & FoldAccuracy {
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
    ...pairFigures({ genuine: scoresOf(true), impostor: scoresOf(false) }),
    ...foldAccuracy(scored),
  }
}

function pairFigures(scores: Scores): PairFigures {
  return {
    genuine: scores.genuine.length,
    impostor: scores.impostor.length,
    areaUnderCurve: areaUnderCurve(scores),
    points: operatingPoints(scores, fars),
  }
}

function similarityFigures(
  { genuine, impostor }: Scores,
  calibration: Calibration | undefined,
): SimilarityFigures[] {
  if (!calibration) return []
  return calibration.points.map(({ score }) => ({
    similarity: similarityAt(score, calibration),
    fmr: shareAbove(impostor, score),
    fnmr: 1 - shareAbove(genuine, score),
  }))
}
