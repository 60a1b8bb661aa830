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
import { manifestFileName } from '../../models/installed-packs.ts'
import { isCalibrated, type InstalledModel, type ModelSet } from '../../models/model-set.ts'
import { readRecognizerCalibration } from '../../start/active-models.ts'
import type { EncodedImage } from '../../vision/image/input/encoded-image.ts'
import {
  writeCalibration,
  type CalibrationOutput,
} from '../../evaluation/calibration/write-calibration.ts'
import { UsageError } from '../command.ts'
import { createProgressBar } from '../progress-bar.ts'
import { openVision } from './open-vision.ts'

export type VerificationCommandOptions = {
  readonly json: boolean
  /** The image file of the curve. */
  readonly out: string | undefined
  /** Target of the calibration: a file, or the folder of the recognizer's pack. */
  readonly calibrate: string | undefined
  /** The values of `--models`. */
  readonly models: readonly string[]
}

/** Runs `facegate evaluate verification`. */
export async function runVerification(
  source: string,
  options: VerificationCommandOptions,
): Promise<void> {
  const faceSet = await readFaceSet(source)
  await using vision = await openVision(options.models)
  const { recognizer } = vision.modelSet
  const pack = packToCalibrate(recognizer, options.calibrate)
  const bar = createProgressBar('images')
  const analyze = (image: EncodedImage) => vision.analyzeImage(image, templatesRequest)
  const templates = await extractTemplates(faceSet.images, analyze, bar.update)
  bar.end()
  const pairsBar = createProgressBar('pairs')
  const calibration = isCalibrated(recognizer)
    ? await readRecognizerCalibration(recognizer)
    : undefined
  const result = evaluateVerification(faceSet, templates, {
    calibration,
    onProgress: pairsBar.update,
  })
  pairsBar.end()
  const { raw, corrected } = result.scores
  if (options.out !== undefined)
    await drawRoc(options.out, [
      { name: 'corrected', scores: corrected, colour: '#0b6e4f' },
      { name: 'raw distance', scores: raw, colour: '#b0413e' },
    ])
  if (pack) await calibratePack(pack, source, result)
  else if (options.calibrate !== undefined)
    await writeCalibrationFile(options.calibrate, source, result)
  console.log(options.json ? JSON.stringify(result.report) : toText(result.report))
}

/** Returns the recognizer if `--calibrate` is the folder of its pack. */
function packToCalibrate(
  recognizer: ModelSet['recognizer'],
  calibrate: string | undefined,
): InstalledModel | undefined {
  if (calibrate === undefined || !existsSync(path.join(calibrate, manifestFileName)))
    return undefined
  if (recognizer === 'builtin' || path.resolve(recognizer.folder) !== path.resolve(calibrate))
    throw new UsageError(
      `--calibrate ${calibrate}: select the recognizer of this pack with --models`,
    )
  return recognizer
}

/**
 * Writes the calibration into the pack. A recognizer without a cohort also gets a cohort; then the
 * calibration is computed from people who are not in the cohort.
 */
async function calibratePack(
  pack: InstalledModel,
  source: string,
  result: VerificationResult,
): Promise<void> {
  const calibrationSet = calibrationSetOf(source, result.report)
  const { decoding } = pack.model
  const hasCohort = decoding.kind === 'arcface' && decoding.cohort !== undefined
  const bar = createProgressBar('cohorts')
  const output = hasCohort
    ? { calibration: buildCalibration(result.scores.corrected, result.identical, calibrationSet) }
    : toCalibrationOutput(fitRecognizer(result.faces, calibrationSet, bar.update))
  bar.end()
  const files = await writeCalibration(pack, output)
  console.error(`written to ${pack.folder}: ${files.join(', ')}`)
}

function toCalibrationOutput({
  calibration,
  cohort,
  neighbours,
  heldOut,
}: RecognizerFit): CalibrationOutput {
  for (const { fmr, score } of calibration.points) {
    const tar = percent(shareAbove(heldOut.genuine, score))
    console.error(`FMR ${fmr.toExponential(0)}: score ${score}, TAR ${tar}, on held-out people`)
  }
  return { calibration, cohort: { cohort, neighbours } }
}

async function writeCalibrationFile(
  file: string,
  source: string,
  { scores, identical, report }: VerificationResult,
): Promise<void> {
  const calibrationSet = calibrationSetOf(source, report)
  const calibration = buildCalibration(scores.corrected, identical, calibrationSet)
  await writeFile(file, `${JSON.stringify(calibration, null, 2)}\n`)
}

function calibrationSetOf(source: string, { modelId, pictures, people }: VerificationReport) {
  const measuredOn = new Date().toISOString().slice(0, 10)
  return { modelId, set: path.basename(source), measuredOn, people, pictures }
}

function toText(report: VerificationReport): string {
  const { modelId, pictures, people, unusable, similarity } = report
  return [
    `model      ${modelId}`,
    `images     ${pictures} of ${people} people`,
    ...unusable.map(({ file, reason }) => `unusable   ${file}: ${reason}`),
    ...metricLines('corrected', report.corrected),
    ...metricLines('raw distance', report.raw),
    '',
    'similarity    false matches (FMR)        false non-matches (FNMR)',
    ...similarity.map(
      (row) =>
        `${row.similarity.toFixed(2).padEnd(14)}${row.fmr.toExponential(1).padEnd(27)}${percent(row.fnmr)}`,
    ),
  ].join('\n')
}

function metricLines(name: string, { pairs, allPairs, search }: VerificationMetrics): string[] {
  const curveLines = (
    title: string,
    { genuine, impostor, areaUnderCurve, points }: typeof allPairs,
  ) => [
    `${title}, ${genuine} of one person and ${impostor} of two people:`,
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
          ...curveLines('listed pairs', pairs),
          `  accuracy, ten folds    ${percent(pairs.accuracy)} ± ${percent(pairs.standardError)}`,
        ]
      : []),
    ...curveLines('all pairs', allPairs),
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
