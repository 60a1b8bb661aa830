import type { AcceptancePoint } from '../../evaluation/verification/acceptance-points.ts'
import type { DecisionRates } from '../../evaluation/verification/decision-levels.ts'
import type { GroupPairs, GroupsReport } from '../../evaluation/verification/group-counts.ts'
import type { SearchMetrics } from '../../evaluation/verification/measure-search.ts'
import type {
  ExtremePair,
  PairMetrics,
  VerificationMetrics,
  VerificationReport,
} from '../../evaluation/verification/evaluate-verification.ts'
import { formatTable } from '../command.ts'
import { quantity } from '../quantity.ts'
import { unusableLines } from './report-lines.ts'

/** Returns the report for people. */
export function verificationText(report: VerificationReport): string {
  const { modelId, pictures, people, unusable, sampledFrom } = report
  return [
    `model      ${modelId}`,
    `images     ${pictures} of ${people} people`,
    ...unusableLines(unusable),
    ...(sampledFrom
      ? [
          `sampled    the set has ${count(sampledFrom.impostor)} pairs of two people and ${count(sampledFrom.genuine)} of one person; a part was drawn evenly`,
        ]
      : []),
    ...metricLines('corrected', report.corrected),
    ...metricLines('raw distance', report.raw),
    ...similarityLines(report),
    ...thresholdLines(report.thresholds),
    ...(report.groups ? groupLines(report.groups) : []),
    ...extremeLines('PAIRS OF TWO PEOPLE WITH THE HIGHEST SCORES', report.worstImpostors),
    ...extremeLines('PAIRS OF ONE PERSON WITH THE LOWEST SCORES', report.worstGenuines),
  ].join('\n')
}

function metricLines(name: string, { pairs, allPairs, search }: VerificationMetrics): string[] {
  return [
    '',
    name.toUpperCase(),
    ...(pairs
      ? [
          ...curveLines('listed pairs', pairs),
          `  accuracy, ten folds    ${percent(pairs.accuracy)} ± ${percent(pairs.standardError)}`,
        ]
      : []),
    ...curveLines('all pairs', allPairs),
    ...search.flatMap(searchLines),
  ]
}

function curveLines(title: string, { genuine, impostor, areaUnderCurve, points }: PairMetrics) {
  return [
    `${title}, ${genuine} of one person and ${impostor} of two people:`,
    `  area under the curve   ${areaUnderCurve.toFixed(5)}`,
    ...points.map((point) => `  TAR at FAR ${rate(point.far)}       ${pointText(point, impostor)}`),
  ]
}

function pointText(point: AcceptancePoint, impostor: number): string {
  const { score, tar, impostorsAccepted, impostorsNeeded, fewPairs } = point
  const few = fewPairs
    ? `; counted from ${quantity(impostorsAccepted, 'pair')}: ${percent(fewPairs.tar)}`
    : ''
  if (score === null || tar === null)
    return `not measurable with ${count(impostor)} pairs, counted from ${count(impostorsNeeded)}${few}`
  const value = `${percent(tar)}  (score ${score.toFixed(3)}`
  return point.source === 'counted'
    ? `${value})`
    : `${value}, extrapolated; counted from ${count(impostorsNeeded)} pairs)${few}`
}

function searchLines(search: SearchMetrics): string[] {
  const { gallerySize, mated, nonMated, rankOne, points, thresholds } = search
  return [
    `gallery of ${gallerySize}, ${mated} searches for people in it and ${nonMated} for others:`,
    `  rank one               ${percent(rankOne)}`,
    ...points.map(({ fpir, fnir }) => `  FNIR at FPIR ${percent(fpir)}   ${percent(fnir)}`),
    ...thresholds.map(({ threshold, similarity, fpir, fnir }) => {
      const name = threshold === 'auto' ? `auto (${similarity.toFixed(2)})` : similarity.toFixed(2)
      const others = fpir === null ? 'no others' : percent(fpir)
      return `  at ${name.padEnd(20)}FPIR ${others.padEnd(10)} FNIR ${percent(fnir)}`
    }),
  ]
}

function similarityLines({ similarity }: VerificationReport): string[] {
  if (similarity.length === 0)
    return ['', 'The model has no calibration table; --calibrate creates one.']
  return [
    '',
    'similarity    false matches (FMR)        false non-matches (FNMR)',
    ...similarity.map(
      (row) =>
        `${row.similarity.toFixed(2).padEnd(14)}${row.fmr.toExponential(1).padEnd(27)}${percent(row.fnmr)}`,
    ),
  ]
}

function thresholdLines(thresholds: readonly DecisionRates[]): string[] {
  if (thresholds.length === 0) return []
  const rows = thresholds.map((row) => [
    row.threshold === 'auto'
      ? `auto, gallery of ${row.gallerySize} (${row.similarity.toFixed(3)})`
      : row.similarity.toFixed(2),
    rate(row.statedFmr),
    `${row.fmr.toExponential(1)} (${row.falseMatches})`,
    `${percent(row.fnmr)} (${row.falseNonMatches})`,
  ])
  const head = ['threshold', 'stated FMR', 'FMR (pairs)', 'FNMR (pairs)']
  return ['', 'THRESHOLDS OF THE SERVICE, single comparisons', formatTable(head, rows)]
}

/** More comparisons between groups are only in the JSON report. */
const betweenMax = 20

function groupLines(report: GroupsReport): string[] {
  const { groups, within, between, ungroupedPictures, unmatched } = report
  const worstFirst = between.toSorted((a, b) => worstFmr(b) - worstFmr(a))
  const left = between.length - betweenMax
  return [
    '',
    'GROUPS: FMR and FNMR by threshold, with the number of pairs',
    ...groups.map(
      ({ group, people, pictures }) => `${group}: ${people} people, ${pictures} images`,
    ),
    ...(ungroupedPictures > 0 ? [`images without a group: ${ungroupedPictures}`] : []),
    ...(unmatched.length > 0
      ? [
          `names in groups.csv that the set does not contain: ${unmatched.length}, first ${unmatched[0]}`,
        ]
      : []),
    ...[...within, ...worstFirst.slice(0, betweenMax)].flatMap(groupPairLines),
    ...(left > 0 ? [`${left} more comparisons between groups with --json`] : []),
  ]
}

function groupPairLines({ groups, genuine, impostor, rates }: GroupPairs): string[] {
  return [
    `${groups.length === 1 ? 'within' : 'between'} ${groups.join(' and ')}, ${genuine} pairs of one person and ${impostor} of two people:`,
    ...rates.map(({ similarity, fmr, falseMatches, fnmr, falseNonMatches }) => {
      const matches = fmr === null ? 'no pairs' : `${fmr.toExponential(1)} (${falseMatches})`
      const misses = fnmr === null ? 'no pairs' : `${percent(fnmr)} (${falseNonMatches})`
      return `  at ${similarity.toFixed(2)}   FMR ${matches.padEnd(16)} FNMR ${misses}`
    }),
  ]
}

/** The groups with the most false matches at the lowest threshold come first. */
function worstFmr({ rates }: GroupPairs): number {
  return rates[0]?.fmr ?? 0
}

function extremeLines(title: string, pairs: readonly ExtremePair[]): string[] {
  return [
    '',
    `${title}. Labels are often wrong here: check them first.`,
    ...pairs.map(({ fileA, fileB, score, similarity }) => {
      const text = similarity === null ? '' : `similarity ${similarity.toFixed(3)}  `
      return `  ${text}score ${score.toFixed(3)}  ${fileA}  ${fileB}`
    }),
  ]
}

/** Returns a rate such as `1e-4`. */
function rate(value: number): string {
  return value.toExponential(Math.abs(Math.log10(value) % 1) < 1e-9 ? 0 : 1)
}

function count(value: number): string {
  return value.toLocaleString('en-US')
}

export function percent(share: number): string {
  return `${(share * 100).toFixed(2)} %`
}
