import type { AppliedTable } from '../../gallery/calibration/calibrations.ts'
import type { GalleryCalibrationReport } from '../../gallery/calibration/measure/calibrate-gallery.ts'
import { rateText } from '../../gallery/calibration/measure/supported-rates.ts'
import { formatRows, formatTable } from '../command.ts'

/** Returns the report as text. */
export function formatReport(report: GalleryCalibrationReport, applied: AppliedTable | null) {
  return [
    ...describeGallery(report),
    '',
    formatPoints(report),
    '',
    ...describeSources(report),
    ...describeSuspects(report),
    ...describeGroups(report),
    '',
    'Limit: subjects that were enrolled only because they matched no other subject (duplicateCheck',
    'reject) differ more than people do on average. Such a gallery gives rates that are too low.',
    applied
      ? `Applied at ${applied.appliedAtUtc}; running servers use the table within two seconds.`
      : 'Not applied. Pass --apply to use this table.',
  ].join('\n')
}

function describeGallery(report: GalleryCalibrationReport): string[] {
  const { modelId, subjects, templates, pairs, sampledFrom, otherFaces, unreadable } = report
  return [
    `model      ${modelId}`,
    `gallery    ${subjects} subjects, ${templates} templates`,
    `pairs      ${pairs} of different subjects${sampledFrom === null ? '' : `, a sample of ${sampledFrom}`}`,
    ...(otherFaces > 0
      ? [`left out   ${otherFaces} faces with templates of other models only`]
      : []),
    ...(unreadable > 0 ? [`left out   ${unreadable} templates that cannot be decrypted`] : []),
  ]
}

function formatPoints({ points, suspectedDuplicates, excluded }: GalleryCalibrationReport): string {
  const hasExcluded = excluded.length > 0
  const hasSuspects = suspectedDuplicates.length > 0
  const head = ['similarity', 'rate', 'score', 'source', 'pairs above']
  const more = [
    ...(hasExcluded ? ['with excluded'] : []),
    ...(hasSuspects ? ['without suspects'] : []),
    'model score',
    'rate there',
  ]
  const rows = points.map((point) => [
    point.similarity.toFixed(2),
    rateText(point.fmr),
    point.score.toFixed(3),
    point.source,
    String(point.pairsAbove),
    ...(hasExcluded ? [point.scoreWithExcluded.toFixed(3)] : []),
    ...(hasSuspects ? [point.scoreWithoutSuspected.toFixed(3)] : []),
    point.shippedScore.toFixed(3),
    point.fmrAtShippedScore.toExponential(1),
  ])
  return formatTable([...head, ...more], rows)
}

function describeSources({ points, lowestFmr, subjects, tail }: GalleryCalibrationReport) {
  const sourcesOf = (source: string): string =>
    points
      .filter((point) => point.source === source)
      .map(({ fmr }) => rateText(fmr))
      .join(', ')
  const extrapolated = sourcesOf('extrapolated')
  const refused = points.filter(({ fmr }) => fmr < lowestFmr * 0.999)
  return [
    `counted: ${sourcesOf('counted') || 'none'}`,
    ...(extrapolated
      ? [
          `extrapolated: ${extrapolated}, from the ${tail.pairs} highest scores ` +
            `(rate ${tail.fmr.toExponential(1)}, score ${tail.score.toFixed(3)})`,
        ]
      : []),
    ...refused.map(
      ({ fmr, subjectsNeeded }) =>
        `not measured: ${rateText(fmr)} needs ${subjectsNeeded} subjects, the gallery has ` +
        `${subjects}; the step to its score is that of the model's table or of the tail, if larger`,
    ),
  ]
}

/** Pairs in the text; the file of --suspects has all of them. */
const suspectsShownMax = 20

function describeSuspects({ suspectedDuplicates, excluded }: GalleryCalibrationReport): string[] {
  const shown = suspectedDuplicates.slice(0, suspectsShownMax)
  if (shown.length === 0) return ['', `suspected duplicates: none; excluded: ${excluded.length}`]
  const rows = shown.map(({ subjectA, subjectB, similarity, score, expected }) => [
    ...[subjectA, subjectB].flatMap(({ subjectId, externalId }) => [subjectId, externalId ?? '']),
    similarity.toFixed(3),
    score.toFixed(3),
    expected.toPrecision(2),
  ])
  const head = [
    'subject',
    'external id',
    'subject',
    'external id',
    'similarity',
    'score',
    'expected',
  ]
  return [
    '',
    `suspected duplicates: ${suspectedDuplicates.length}, included in the table; excluded: ${excluded.length}`,
    formatTable(head, rows),
    'expected: pairs of different people that are expected to reach the score. Check each pair;',
    'confirm duplicates in the file of --suspects and pass it with --exclude.',
  ]
}

function describeGroups({ groups }: GalleryCalibrationReport): string[] {
  if (groups.length === 0) return []
  return [
    '',
    'false-match rates by group, in the tables of the model and of the gallery:',
    formatRows(groups, {
      groups: ({ groups: [one, other] }) =>
        one === other ? `within ${one}` : `${one} and ${other}`,
      pairs: 'pairs',
      '0.70 model': ({ shipped }) => shipped.fmr1e3.toExponential(1),
      '0.70 gallery': ({ gallery }) => gallery.fmr1e3.toExponential(1),
      '0.80 model': ({ shipped }) => shipped.fmr1e4.toExponential(1),
      '0.80 gallery': ({ gallery }) => gallery.fmr1e4.toExponential(1),
    }),
  ]
}
