import type { CalibrationSubject, GalleryTemplates } from '../read-templates.ts'
import { similarityAt, similarityAtFmr, type Calibration } from '../similarity.ts'
import { tailSize } from './build-calibration.ts'
import { shareAbove } from './sorted-scores.ts'
import { buildGalleryTable, shippedScore } from './build-gallery-table.ts'
import { compareSubjects, maskKey, type SubjectComparison } from './compare-subjects.ts'
import { excludedPairs, type ExcludedPair, type ExclusionRow } from './excluded-pairs.ts'
import { groupRates, selectGroups, type ComparedGroups } from './group-rates.ts'
import { createTemplateScorer, type TemplateScorer } from './template-scorer.ts'
import { lowestSupportedFmr, requireSupport, subjectsToSupport } from './supported-rates.ts'
import {
  findSuspectedPairs,
  fitScoreTail,
  scoresOfSubjects,
  withoutScores,
  type SuspectedPair,
} from './suspected-duplicates.ts'

/** The pairs of a gallery that the owner has confirmed as one person, and what to measure. */
export type CalibrateGalleryOptions = {
  readonly galleryId: string
  /** The table of the model. */
  readonly shipped: Calibration
  readonly exclude: readonly ExclusionRow[]
  /** The lowest rate of the table; by default the lowest that the gallery supports. */
  readonly downTo: number | undefined
  readonly measuredOn: string
  readonly pairsMax?: number
  readonly onProgress: (done: number, total: number) => void
}

export type GalleryCalibrationReport = ReturnType<typeof calibrateGallery>['report']

/** The rates at which groups are compared. */
const groupFmrs = [1e-3, 1e-4]

/**
 * Measures the false-match rates of a gallery on the pairs of its subjects.
 *
 * @throws CalibrationRefusal if the gallery has too few subjects for the rate, or a pair cannot be excluded.
 */
export function calibrateGallery(templates: GalleryTemplates, options: CalibrateGalleryOptions) {
  const { shipped, downTo, exclude } = options
  const { subjects } = templates
  requireSupport(subjects.length, Math.min(downTo ?? 1e-3, 1e-3))
  const lowestFmr = downTo ?? lowestSupportedFmr(subjects.length) ?? 1e-3
  const scorer = createTemplateScorer(templates)
  const excluded = excludedPairs(templates, scorer, exclude)
  const groups = selectGroups(subjects)
  const comparison = compareSubjects(templates, {
    ...options,
    scorer,
    groupMasks: groups.masks,
    groupThresholds: groupFmrs.map((fmr) => shippedScore(shipped, fmr)),
    isExcluded: excluded.isExcluded,
  })
  const tail = fitScoreTail(comparison.scores)
  const checked = excluded.requireSuspected(tail)
  const suspected = findSuspectedPairs(templates, comparison)
  const context = { ...options, scorer, lowestFmr, comparison, checked, suspected }
  const tables = buildTables(templates, context)
  const { calibration } = tables
  const report = {
    ...describeComparison(templates, context),
    points: reportPoints(comparison.scores, shipped, tables),
    groups: reportGroups(templates, comparison, { groups, calibration }),
  }
  return {
    /** The table without the excluded pairs. */
    calibration,
    report,
    /** The scores of the table, ascending. */
    scores: comparison.scores,
  }
}

type TableContext = CalibrateGalleryOptions & {
  readonly scorer: TemplateScorer
  readonly lowestFmr: number
  readonly comparison: SubjectComparison
  readonly checked: readonly ExcludedPair[]
  readonly suspected: readonly SuspectedPair[]
}

function describeComparison(
  { modelId, subjects, subjectOf, unreadable, otherFaces }: GalleryTemplates,
  { galleryId, shipped, lowestFmr, comparison, checked, suspected }: TableContext,
) {
  const { scores, pairsOfGallery, isSampled } = comparison
  const toReported = ({ subjectA, subjectB, score, expected }: SuspectedPair) => ({
    subjectA: subjectIds(subjects[subjectA]),
    subjectB: subjectIds(subjects[subjectB]),
    score,
    /** By the table of the model. */
    similarity: similarityAt(score, shipped),
    expected,
  })
  return {
    galleryId,
    modelId,
    subjects: subjects.length,
    templates: subjectOf.length,
    unreadable,
    /** Faces that have only templates of other models. */
    otherFaces,
    pairs: scores.length,
    /** All pairs of the gallery, if only a sample was compared. */
    sampledFrom: isSampled ? pairsOfGallery : null,
    lowestFmr,
    /** The highest scores to which extrapolated rates are fitted: their number, rate and lowest score. */
    tail: { pairs: tailSize, fmr: tailSize / scores.length, score: scores.at(-1 - tailSize) ?? 0 },
    suspectedDuplicates: suspected.map(toReported),
    excluded: checked.map(toReported),
  }
}

type ReportTables = Record<'calibration' | 'withExcluded' | 'withoutSuspected', Calibration>

/** Builds the table, and for comparison those with the excluded and without the suspected pairs. */
function buildTables(templates: GalleryTemplates, context: TableContext): ReportTables {
  const { scorer, comparison, checked, suspected } = context
  const build = (scores: Float32Array): Calibration => buildTable(scores, templates, context)
  const calibration = build(comparison.scores)
  const removed = suspected.flatMap((pair) => scoresOfSubjects(templates, scorer, pair))
  return {
    calibration,
    withExcluded: checked.length === 0 ? calibration : build(merge(comparison)),
    withoutSuspected:
      removed.length === 0 ? calibration : build(withoutScores(comparison.scores, removed)),
  }
}

function buildTable(
  scores: Float32Array,
  { modelId, subjects, subjectOf, densities }: GalleryTemplates,
  { galleryId, measuredOn, shipped, lowestFmr, comparison, checked }: TableContext,
): Calibration {
  const sampled = `a random sample of ${comparison.pairsOfGallery} pairs`
  const notes = [
    ...(comparison.isSampled ? [sampled] : []),
    ...(checked.length > 0 ? [`without ${checked.length} confirmed duplicates`] : []),
  ]
  const set = {
    modelId,
    set: `subjects of the gallery ${galleryId}`,
    measuredOn,
    people: subjects.length,
    pictures: subjectOf.length,
  }
  // The score of a template against itself is its negative density.
  const identicalScores = [
    densities.reduce((lowest, density) => Math.min(lowest, -density), Infinity),
  ]
  return buildGalleryTable({ scores, identicalScores, set, shipped, lowestFmr, notes })
}

function merge({ scores, excludedScores }: SubjectComparison): Float32Array {
  const all = new Float32Array(scores.length + excludedScores.length)
  all.set(scores)
  all.set(excludedScores, scores.length)
  return all.sort()
}

/** Reports each rate with its scores in this gallery and in the table of the model. */
function reportPoints(
  scores: Float32Array,
  shipped: Calibration,
  { calibration, withExcluded, withoutSuspected }: ReportTables,
) {
  return calibration.points.map((point, index) => {
    const { fmr, score } = point
    const shippedAt = shippedScore(shipped, fmr)
    return {
      ...point,
      similarity: similarityAtFmr(fmr),
      /** The subjects that a table needs to include the rate, counted or by the tail. */
      subjectsNeeded: subjectsToSupport(fmr),
      /** Pairs that exceed the score. */
      pairsAbove: Math.round(shareAbove(scores, score) * scores.length),
      shippedScore: shippedAt,
      /** The share of the pairs that exceed the score of the model's table. */
      fmrAtShippedScore: shareAbove(scores, shippedAt),
      /** The score with the excluded pairs. */
      scoreWithExcluded: withExcluded.points[index]?.score ?? score,
      /** The score without the suspected duplicates. */
      scoreWithoutSuspected: withoutSuspected.points[index]?.score ?? score,
    }
  })
}

type GroupContext = { readonly groups: ComparedGroups; readonly calibration: Calibration }

/** Empty if the gallery has fewer than two groups to compare. */
function reportGroups(
  { subjectOf }: GalleryTemplates,
  { byGroups, highest }: SubjectComparison,
  { groups: { names, masks }, calibration }: GroupContext,
) {
  if (names.length < 2) return []
  const thresholds = groupFmrs.map((fmr) => shippedScore(calibration, fmr))
  const matches = thresholds.map((threshold) => {
    const counts = new Float64Array(byGroups.pairs.length)
    for (const { a, b } of highest.from(threshold)) {
      const key = maskKey(masks[subjectOf[a] ?? 0] ?? 0, masks[subjectOf[b] ?? 0] ?? 0)
      counts[key] = (counts[key] ?? 0) + 1
    }
    return counts
  })
  const own = groupRates(names, { pairs: byGroups.pairs, matches })
  return groupRates(names, byGroups).map(({ groups, pairs, rates }, index) => ({
    groups,
    pairs,
    /** The rates at the scores of the model's table. */
    shipped: { fmr1e3: rates[0] ?? 0, fmr1e4: rates[1] ?? 0 },
    /** The rates at the scores of the gallery's table. */
    gallery: { fmr1e3: own[index]?.rates[0] ?? 0, fmr1e4: own[index]?.rates[1] ?? 0 },
  }))
}

function subjectIds(subject: CalibrationSubject | undefined) {
  const { subjectId = '', externalId = null } = subject ?? {}
  return { subjectId, externalId }
}
