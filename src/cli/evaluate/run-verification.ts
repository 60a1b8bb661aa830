import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { buildCalibration } from '../../evaluation/calibration/build-calibration.ts'
import { drawRoc } from '../../evaluation/verification/draw-roc.ts'
import { shareAbove } from '../../evaluation/verification/operating-points.ts'
import { readFaceSet } from '../../evaluation/face-set.ts'
import { fitRecognizer, type RecognizerFit } from '../../evaluation/calibration/fit-recognizer.ts'
import {
  extractTemplates,
  templatesRequest,
} from '../../evaluation/verification/extract-templates.ts'
import { evaluateVerification } from '../../evaluation/verification/evaluate-verification.ts'
import type {
  VerificationMetrics,
  VerificationResult,
  VerificationReport,
} from '../../evaluation/verification/evaluate-verification.ts'
import { isRecognizerDecoding } from '../../models/decoding.ts'
import { manifestFileName } from '../../models/installed-packs.ts'
import { readRecognizerCalibration } from '../../start/active-models.ts'
import { type InstalledModel, type ModelSet, isCalibrated } from '../../models/model-set.ts'
import type { EncodedImage } from '../../vision/image-analysis.ts'
import {
  writeCalibration,
  type CalibrationOutput,
} from '../../evaluation/calibration/write-calibration.ts'
import { UsageError } from '../command.ts'
import { createProgressBar } from '../progress-bar.ts'
import { openVision } from './open-vision.ts'

export type VerificationCommandOptions = {
  readonly json: boolean
  /** Where to draw the curve. */
  readonly out: string | undefined
  /** Where to write the table of similarities: a file, or the folder of the recognizer's pack. */
  readonly calibrate: string | undefined
  /** What `--models` says. */
  readonly models: readonly string[]
}

/** `facegate evaluate verification`. */
export async function runVerification(
  place: string,
  options: VerificationCommandOptions,
): Promise<void> {
  const set = await readFaceSet(place)
  await using vision = await openVision(options.models)
  const { recognizer } = vision.modelSet
  const pack = packToCalibrate(recognizer, options.calibrate)
  const bar = createProgressBar('pictures')
  const look = (picture: EncodedImage) => vision.analyzeImage(picture, templatesRequest)
  const gathered = await extractTemplates(set.pictures, look, bar.update)
  bar.end()
  const pairs = createProgressBar('pairs')
  const calibration = isCalibrated(recognizer)
    ? await readRecognizerCalibration(recognizer)
    : undefined
  const found = evaluateVerification(set, gathered, { calibration, onProgress: pairs.update })
  pairs.end()
  const { raw, corrected } = found.scores
  if (options.out !== undefined)
    await drawRoc(options.out, [
      { name: 'corrected', scores: corrected, colour: '#0b6e4f' },
      { name: 'raw distance', scores: raw, colour: '#b0413e' },
    ])
  if (pack) await calibratePack(pack, place, found)
  else if (options.calibrate !== undefined) await writeTable(options.calibrate, place, found)
  console.log(options.json ? JSON.stringify(found.report) : text(found.report))
}

/** The recognizer that `--calibrate` names by the folder of its pack, if it does. */
function packToCalibrate(
  recognizer: ModelSet['recognizer'],
  calibrate: string | undefined,
): InstalledModel | undefined {
  if (calibrate === undefined || !existsSync(path.join(calibrate, manifestFileName)))
    return undefined
  if (recognizer === 'builtin' || path.resolve(recognizer.folder) !== path.resolve(calibrate))
    throw new UsageError(`--calibrate ${calibrate}: choose its recognizer with --models`)
  return recognizer
}

/** A recognizer without a cohort gets one, and a table that none of its people distort. */
async function calibratePack(
  pack: InstalledModel,
  place: string,
  found: VerificationResult,
): Promise<void> {
  const about = calibrationSetOf(place, found.report)
  const { decoding } = pack.model
  const hasCohort = isRecognizerDecoding(decoding) && decoding.cohort !== undefined
  const bar = createProgressBar('cohorts')
  const made = hasCohort
    ? { calibration: buildCalibration(found.scores.corrected, found.identical, about) }
    : toCalibrationOutput(fitRecognizer(found.faces, about, bar.update))
  bar.end()
  const files = await writeCalibration(pack, made)
  console.error(`written in ${pack.folder}: ${files.join(', ')}`)
}

function toCalibrationOutput({
  calibration: table,
  cohort,
  neighbours,
  heldOut,
}: RecognizerFit): CalibrationOutput {
  for (const { fmr, score } of table.points) {
    const tar = percent(shareAbove(heldOut.genuine, score))
    console.error(`FMR ${fmr.toExponential(0)}: score ${score}, TAR ${tar}, on people held out`)
  }
  return { calibration: table, cohort: { cohort, neighbours } }
}

async function writeTable(file: string, place: string, found: VerificationResult): Promise<void> {
  const about = calibrationSetOf(place, found.report)
  const table = buildCalibration(found.scores.corrected, found.identical, about)
  await writeFile(file, `${JSON.stringify(table, null, 2)}\n`)
}

function calibrationSetOf(place: string, { modelId, pictures, people }: VerificationReport) {
  const measuredOn = new Date().toISOString().slice(0, 10)
  return { modelId, set: path.basename(place), measuredOn, people, pictures }
}

function text(report: VerificationReport): string {
  const { modelId, pictures, people, unusable, similarity } = report
  return [
    `model      ${modelId}`,
    `pictures   ${pictures} of ${people} people`,
    ...unusable.map(({ file, reason }) => `unusable   ${file}: ${reason}`),
    ...metricLines('corrected', report.corrected),
    ...metricLines('raw distance', report.raw),
    '',
    'similarity    strangers that reach it    pairs of one person that miss it',
    ...similarity.map(
      (row) =>
        `${row.similarity.toFixed(2).padEnd(14)}${row.fmr.toExponential(1).padEnd(27)}${percent(row.fnmr)}`,
    ),
  ].join('\n')
}

function metricLines(name: string, { pairs, allPairs, search }: VerificationMetrics): string[] {
  const lines = (title: string, { genuine, impostor, areaUnderCurve, points }: typeof allPairs) => [
    `${title}, ${genuine} of one person and ${impostor} of two:`,
    `  area under the curve   ${areaUnderCurve.toFixed(5)}`,
    ...points.map(
      ({ far, tar, score }) =>
        `  TAR at FAR ${far.toExponential(0)}       ${percent(tar)}  (score ${score.toFixed(3)})`,
    ),
  ]
  return [
    '',
    name.toUpperCase(),
    ...(pairs
      ? [
          ...lines('listed pairs', pairs),
          `  accuracy, ten folds    ${percent(pairs.accuracy)} ± ${percent(pairs.standardError)}`,
        ]
      : []),
    ...lines('all pairs', allPairs),
    ...search.flatMap(({ gallerySize, mated, nonMated, rankOne, points }) => [
      `gallery of ${gallerySize}, ${mated} searches for people in it and ${nonMated} for others:`,
      `  rank one               ${percent(rankOne)}`,
      ...points.map(({ fpir, fnir }) => `  FNIR at FPIR ${percent(fpir)}   ${percent(fnir)}`),
    ]),
  ]
}

function percent(share: number): string {
  return `${(share * 100).toFixed(2)} %`
}
