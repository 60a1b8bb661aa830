import { createHighestPairs } from '../../gallery/calibration/measure/highest-pairs.ts'
import { shareAbove } from '../../gallery/calibration/measure/sorted-scores.ts'
import {
  type Calibration,
  autoThreshold,
  similarityAt,
} from '../../gallery/calibration/similarity.ts'
import type { Template } from '../../vision/embed/template.ts'
import type { ExtractedTemplate, FaceSet, LabelledPair } from '../face-images.ts'
import { acceptancePoints, areaUnderCurve } from './acceptance-points.ts'
import { autoLevels, decisionRates, fixedLevels } from './decision-levels.ts'
import { type ScoredPair, foldAccuracy } from './fold-accuracy.ts'
import { type GroupedFace, createGroupCounts } from './group-counts.ts'
import { gallerySizesOf, measureSearch } from './measure-search.ts'
import {
  type PairScores,
  type Scorer,
  possiblePairsIfSampled,
  scoreAllPairs,
  scorers,
} from './pair-scores.ts'
import type { GroupLabels } from './read-groups.ts'

/** Measures how well templates separate people. `templates` holds one entry per image of `set`. */
export function evaluateVerification(
  set: FaceSet,
  templates: readonly ExtractedTemplate[],
  options: VerificationOptions,
) {
  const faces = set.images.flatMap(({ person, file }, index): EvaluatedFace[] => {
    const template = templateAt(templates, index)
    return template
      ? [{ person, file, template, groupIndex: options.groups?.indexes[index] ?? -1 }]
      : []
  })
  const modelId = faces[0]?.template.modelId
  if (modelId === undefined)
    throw new Error(`no face was found in any image (${firstReason(templates)})`)
  const { scores, pairReport } = scoreFaces(faces, options)
  const report = {
    modelId,
    pictures: set.images.length,
    people: new Set(set.images.map(({ person }) => person)).size,
    /** Images without a template, and the reason. A pair with such an image never matches. */
    unusable: set.images.flatMap(({ file }, index) => {
      const template = templates[index]
      return template && 'unusable' in template ? [{ file, reason: template.unusable }] : []
    }),
    /** The number of possible pairs if the set is so large that pairs were sampled; otherwise null. */
    sampledFrom: possiblePairsIfSampled(faces),
    ...metricsOfScorers({ set, templates, faces, scores }, options.calibration),
    /** Rates measured at each similarity of the calibration table; empty without a table. */
    similarity: similarityMetrics(scores.corrected, options.calibration),
    ...pairReport,
  }
  return {
    report,
    /** The faces of the images that have a template. */
    faces,
    /** Scores of all pairs, for curves and calibration tables. */
    scores,
    /** Score of each template against itself. */
    identical: faces.map(({ template }) => scorers.corrected(template, template)),
  }
}

function firstReason(templates: readonly ExtractedTemplate[]): string {
  const [first] = templates
  return first && 'unusable' in first ? `the first: ${first.unusable}` : 'the set is empty'
}

type ScoredSet = {
  readonly set: FaceSet
  readonly templates: readonly ExtractedTemplate[]
  readonly faces: readonly EvaluatedFace[]
  readonly scores: Readonly<Record<keyof typeof scorers, PairScores>>
}

/** Returns results with the score of the service (`corrected`) and with the distance alone (`raw`). */
function metricsOfScorers(
  { set, templates, faces, scores }: ScoredSet,
  calibration: Calibration | undefined,
) {
  const levelsOf = (size: number) => [...fixedLevels(calibration), ...autoLevels(calibration, size)]
  const metricsOf = (scorer: keyof typeof scorers) => ({
    /** The listed pairs; null if the set lists none. */
    pairs: set.pairs ? measureListedPairs(set.pairs, templates, scorers[scorer]) : null,
    /** Every image against every other image. */
    allPairs: pairMetrics(scores[scorer]),
    // The table maps only corrected scores to similarities.
    search: measureSearch(faces, scorers[scorer], scorer === 'corrected' ? { levelsOf } : {}),
  })
  return { corrected: metricsOf('corrected'), raw: metricsOf('raw') }
}

function templateAt(templates: readonly ExtractedTemplate[], index: number): Template | undefined {
  const template = templates[index]
  return template && 'vector' in template ? template : undefined
}

function measureListedPairs(
  pairs: readonly LabelledPair[],
  templates: readonly ExtractedTemplate[],
  score: Scorer,
) {
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

function pairMetrics(scores: PairScores) {
  return {
    genuine: scores.genuine.length,
    impostor: scores.impostor.length,
    areaUnderCurve: areaUnderCurve(scores),
    points: acceptancePoints(scores),
  }
}

function similarityMetrics(
  { genuine, impostor }: PairScores,
  calibration: Calibration | undefined,
) {
  if (!calibration) return []
  return calibration.points.map(({ score }) => ({
    similarity: similarityAt(score, calibration),
    /** Share of all pairs of different people that reach the similarity. */
    fmr: shareAbove(impostor, score),
    /** Share of all pairs of one person that do not reach it. */
    fnmr: 1 - shareAbove(genuine, score),
  }))
}

/**
 * Scores all pairs of faces, and counts parts of the report meanwhile.
 *
 * @throws Error when there is no pair of one person or no pair of two people.
 */
function scoreFaces(
  faces: readonly EvaluatedFace[],
  { calibration, groups, onProgress = () => undefined }: VerificationOptions,
) {
  const counted = groups && createGroupCounts(groups, faces, fixedLevels(calibration))
  const impostors = createHighestPairs(extremePairsMax)
  // With the signs of the scores changed, so these are the lowest pairs.
  const genuines = createHighestPairs(extremePairsMax)
  const onPair = (a: number, b: number, score: number): void => {
    if (faces[a]?.person === faces[b]?.person) genuines.add(-score, a, b)
    else impostors.add(score, a, b)
    counted?.add(a, b, score)
  }
  const scores = {
    corrected: scoreAllPairs(faces, scorers.corrected, { onProgress, onPair }),
    raw: scoreAllPairs(faces, scorers.raw),
  }
  if (scores.raw.genuine.length === 0 || scores.raw.impostor.length === 0)
    throw new Error('the set needs two people and two images of one of them')
  const worst = (pairs: typeof impostors, sign: 1 | -1) =>
    pairs
      .from(-Infinity)
      .slice(0, extremePairsMax)
      .map(({ a, b, score }) => ({
        fileA: faces[a]?.file ?? '',
        fileB: faces[b]?.file ?? '',
        score: sign * score,
        /** Null without a calibration table. */
        similarity: calibration ? similarityAt(sign * score, calibration) : null,
      }))
  const pairReport = {
    /** Rates at the thresholds of the service; empty without a table. */
    thresholds: decisionRates(scores.corrected, levelsOf(faces, calibration)),
    /** The pairs of two people with the highest scores. Check their labels first. */
    worstImpostors: worst(impostors, 1),
    /** The pairs of one person with the lowest scores. Check their labels first. */
    worstGenuines: worst(genuines, -1),
    /** Rates by group; null without groups. */
    groups: counted?.report() ?? null,
  }
  return { scores, pairReport }
}

/** Galleries with the same automatic threshold are one level, that of the largest. */
function levelsOf(faces: readonly EvaluatedFace[], calibration: Calibration | undefined) {
  const sizes = gallerySizesOf(new Set(faces.map(({ person }) => person)).size)
  const distinct = sizes.filter((size, index) => {
    const next = sizes[index + 1]
    return next === undefined || autoThreshold(next) !== autoThreshold(size)
  })
  return [...fixedLevels(calibration), ...distinct.flatMap((size) => autoLevels(calibration, size))]
}

export type VerificationResult = ReturnType<typeof evaluateVerification>
export type VerificationReport = VerificationResult['report']
export type VerificationMetrics = VerificationReport['corrected']
export type PairMetrics = ReturnType<typeof pairMetrics>

/** A face with its image and group. */
type EvaluatedFace = GroupedFace & { readonly file: string }

type VerificationOptions = {
  /** The calibration table of the model. Without it, the report has no similarities. */
  readonly calibration: Calibration | undefined
  readonly groups?: GroupLabels | undefined
  readonly onProgress?: (done: number, total: number) => void
}

/** A pair that a threshold is most likely to classify against its label. */
export type ExtremePair = VerificationReport['worstImpostors'][number]

/** The number of pairs that are listed by name. */
export const extremePairsMax = 20
