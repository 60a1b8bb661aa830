import { existsSync } from 'node:fs'
import { access, constants, mkdir, open, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fitRecognizer } from '../../evaluation/calibration/fit-recognizer.ts'
import {
  type CalibrationOutput,
  writeCalibration,
} from '../../evaluation/calibration/write-calibration.ts'
import { extractTemplates, readFaceSet, templatesRequest } from '../../evaluation/face-images.ts'
import { drawRoc } from '../../evaluation/verification/draw-roc.ts'
import {
  type VerificationReport,
  type VerificationResult,
  evaluateVerification,
} from '../../evaluation/verification/evaluate-verification.ts'
import { readGroups } from '../../evaluation/verification/read-groups.ts'
import {
  buildCalibration,
  requireImpostorPairs,
} from '../../gallery/calibration/measure/build-calibration.ts'
import { shareAbove } from '../../gallery/calibration/measure/sorted-scores.ts'
import { dayOf } from '../../lib/clock.ts'
import { requireRecognizerDecoding } from '../../models/decoding.ts'
import { findInstalledModel, manifestFileName, readPack } from '../../models/installed-packs.ts'
import { type InstalledModel, type ModelSet, isCalibrated } from '../../models/model-set.ts'
import { readCohort } from '../../models/template/read-cohort.ts'
import { readRecognizerCalibration } from '../../start/active-models.ts'
import type { EncodedImage } from '../../vision/image/input/encoded-image.ts'
import { type CommandValues, UsageError, showProgress } from '../command.ts'
import { type EvaluationValues, openVision } from './open-vision.ts'
import { percent, verificationText } from './verification-text.ts'

type VerificationValues = CommandValues<'source', 'out' | 'calibrate'> &
  Pick<EvaluationValues, 'models'>

export type QualifiedRecognizer = Awaited<ReturnType<typeof runVerification>>

/**
 * Runs `facegate evaluate verification`.
 *
 * @param options `out` is the image file of the curve. `calibrate` is the target of the calibration: a
 *   file, or the folder of the recognizer's pack.
 */
export async function runVerification(options: VerificationValues) {
  const { source } = options
  await checkImageOutput(options.out)
  checkCalibrationTarget(options.calibrate)
  const faceSet = await readFaceSet(source)
  const groups = await readGroups(source, faceSet.images)
  await using vision = await openVision(options.models)
  const { recognizer } = vision.modelSet
  const pack = packToCalibrate(recognizer, options.calibrate)
  if (options.calibrate !== undefined)
    await checkOutputFile(
      '--calibrate',
      pack ? path.join(options.calibrate, manifestFileName) : options.calibrate,
    )
  const analyze = (image: EncodedImage) => vision.analyzeImage(image, templatesRequest)
  const templates = await showProgress('images', (onProgress) =>
    extractTemplates(faceSet.images, analyze, onProgress),
  )
  const calibration = isCalibrated(recognizer)
    ? await readRecognizerCalibration(recognizer)
    : undefined
  const result = await showProgress('pairs', (onProgress) =>
    evaluateVerification(faceSet, templates, { calibration, groups, onProgress }),
  )
  // Printed first: an output that fails does not lose the report.
  console.log(options.json ? JSON.stringify(result.report) : verificationText(result.report))
  const { raw, corrected } = result.scores
  if (options.out !== undefined)
    await drawRoc(options.out, [
      { name: 'corrected', scores: corrected, colour: '#0b6e4f' },
      { name: 'raw distance', scores: raw, colour: '#b0413e' },
    ])
  /** Empty unless a cohort was created. */
  const heldOut = pack ? await calibratePack(pack, source, result) : []
  if (!pack && options.calibrate !== undefined) {
    const calibrationSet = calibrationSetOf(source, result.report)
    const measured = buildCalibration(corrected, result.identical, calibrationSet)
    await writeFile(options.calibrate, `${JSON.stringify(measured, null, 2)}\n`)
  }
  return { report: result.report, heldOut }
}

/** @throws UsageError for a name that may be the mistyped folder of a pack: no file is written there. */
function checkCalibrationTarget(target = '.json'): void {
  if (target.endsWith('.json') || existsSync(path.join(target, manifestFileName))) return
  throw new UsageError(
    `--calibrate ${target} is neither the folder of a pack (with a ${manifestFileName}) nor a file that ends in .json`,
  )
}

/** Returns the recognizer if `--calibrate` is the folder of its pack. */
function packToCalibrate(recognizer: ModelSet['recognizer'], calibrate: string | undefined) {
  if (calibrate === undefined || !existsSync(path.join(calibrate, manifestFileName)))
    return undefined
  if (recognizer === 'builtin' || path.resolve(recognizer.folder) !== path.resolve(calibrate))
    throw new UsageError(
      `--calibrate ${calibrate}: select the recognizer of this pack with --models`,
    )
  return recognizer
}

/**
 * Writes the calibration into the pack. A recognizer without a table also gets a cohort, which the rows
 * of the pack are a part of; then the calibration is computed from people who are not in the cohort.
 *
 * @returns the shares of pairs of one person that match at false-match rates, of people outside of the
 *   cohort and in it; none without a new cohort.
 */
async function calibratePack(pack: InstalledModel, source: string, result: VerificationResult) {
  const calibrationSet = calibrationSetOf(source, result.report)
  const { dimensions, ...decoding } = requireRecognizerDecoding(pack.model)
  const { corrected } = result.scores
  // Few people cannot be mixed to a cohort.
  requireImpostorPairs(corrected.impostor.length)
  if (isCalibrated(pack)) {
    if ((pack.withBuiltin ? decoding.withBuiltin : decoding)?.cohort?.mixtures)
      console.error(
        'WARNING: the people whose pictures created the cohort have lower scores: if these are their ' +
          'pictures, other people match more often than the table states; pass pictures of other people',
      )
    await write(pack, {
      calibration: buildCalibration(corrected, result.identical, calibrationSet),
    })
    return []
  }
  const { added, origin } = await readGivenRows(pack)
  const combinedDimensions = pack.withBuiltin ? dimensions : undefined
  const options = { ...calibrationSet, added, combinedDimensions }
  const fit = await showProgress('cohorts', (onProgress) =>
    fitRecognizer(result.faces, options, onProgress),
  )
  const { calibration, heldOut, inCohort, ...cohort } = fit
  const rates = calibration.points.map(({ fmr, score }) => {
    const tar = shareAbove(heldOut.genuine, score)
    const tarInCohort = shareAbove(inCohort, score)
    const rate = `FMR ${fmr.toExponential(0)}: score ${score}, TAR ${percent(tar)}`
    console.error(`${rate}, on held-out people; ${percent(tarInCohort)} with them in the cohort`)
    return { fmr, score, tar, tarInCohort }
  })
  // Lower rates than that of the default threshold are extrapolated.
  if (rates.some(({ fmr, tar, tarInCohort }) => fmr >= 1e-4 && tar - tarInCohort > cohortLossMax))
    console.error(
      'WARNING: the people of these pictures are in the cohort, which lowers their scores: do not ' +
        'enroll them, or create the cohort from pictures of 150 people or more',
    )
  await write(pack, { calibration, cohort: { ...cohort, origin } })
  return rates
}

/** A larger loss of TAR in the cohort is reported. Sets of 150 people and more lose 1 to 3 %. */
const cohortLossMax = 0.05

/** Returns the rows of the cohort that are not mixtures of calibration pictures. */
async function readGivenRows({ folder, model: { id } }: InstalledModel) {
  const model = findInstalledModel(await readPack(folder), id)
  const rows = model && (await readCohort(model))
  if (!model || !rows) return { added: new Float32Array(), origin: undefined }
  const { cohort, dimensions } = requireRecognizerDecoding(model.model)
  const added = rows.cohort.subarray((cohort?.mixtures ?? 0) * dimensions)
  return { added, origin: cohort?.origin }
}

async function write(pack: InstalledModel, output: CalibrationOutput): Promise<void> {
  const files = await writeCalibration(pack, output)
  console.error(`written to ${pack.folder}: ${files.join(', ')}`)
}

function calibrationSetOf(source: string, { modelId, pictures, people }: VerificationReport) {
  const measuredOn = dayOf(new Date().toISOString())
  return { modelId, set: path.basename(source), measuredOn, people, pictures }
}

/** The formats of curves and tables. */
const imageExtensions = new Set(['.svg', '.png'])

/**
 * Checks before an evaluation that its result can be written, and creates the folder of the file.
 *
 * @param file the value of `--out`. Nothing is done if it is undefined.
 * @throws UsageError that names the file, the rule and the remedy.
 */
export async function checkImageOutput(file: string | undefined): Promise<void> {
  if (file === undefined) return
  if (!imageExtensions.has(path.extname(file).toLowerCase()))
    throw new UsageError(
      `--out ${file} is neither .svg nor .png; choose a name with one of these extensions`,
    )
  await checkOutputFile('--out', file)
}

/**
 * Checks that `file` can be written and creates its folder. An existing file is not changed.
 *
 * @throws UsageError that names the file, the rule and the remedy.
 */
async function checkOutputFile(option: string, file: string): Promise<void> {
  const folder = path.dirname(path.resolve(file))
  const fail = (problem: string) => (cause: unknown) => {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new UsageError(
      `${option} ${file}: ${problem} (${reason}); choose a file that you can write`,
      { cause },
    )
  }
  await mkdir(folder, { recursive: true }).catch(fail(`the folder ${folder} cannot be created`))
  const existing = await stat(file).catch(() => undefined)
  if (existing?.isDirectory())
    throw new UsageError(`${option} ${file} is a folder; add the name of a file`)
  if (existing)
    await access(file, constants.W_OK).catch(fail('the existing file cannot be overwritten'))
  else await createAndRemove(file).catch(fail(`no file can be created in ${folder}`))
}

/** Permissions alone do not show that a file can be created: the file system may be read-only. */
async function createAndRemove(file: string): Promise<void> {
  const handle = await open(file, 'wx')
  await handle.close()
  await rm(file)
}
