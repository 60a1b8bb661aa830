import path from 'node:path'
import { readConfig } from '../../config.ts'
import type { AppliedTable } from '../../gallery/calibration/apply-measured-table.ts'
import {
  calibrateGallery,
  type GalleryCalibrationReport,
  type GalleryCalibrationResult,
} from '../../gallery/calibration/measure/calibrate-gallery.ts'
import { drawGalleryCurve } from '../../evaluation/gallery/draw-gallery-curve.ts'
import { readConfirmedPairs, writeSuspectedPairs } from '../../evaluation/gallery/exclusion-file.ts'
import { readTemplates, type GalleryTemplates } from '../../gallery/calibration/read-templates.ts'
import { calibratedFmrs, type Calibration } from '../../gallery/calibration/similarity.ts'
import { createDecryptStoredTemplate } from '../../gallery/keys/decrypt-stored-template.ts'
import { openKeyring } from '../../gallery/keys/keyring.ts'
import { createSubjectKeys } from '../../gallery/keys/subject-keys.ts'
import { formatUtc } from '../../lib/utc.ts'
import { readActiveSet } from '../../models/active-set.ts'
import { readRecognizerCalibration } from '../../start/active-models.ts'
import { masterKeyPath } from '../../start/open-gallery.ts'
import type { Store } from '../../store/database.ts'
import { galleryIdOf, type Project } from '../../store/tenancy/projects.ts'
import { UsageError, type CliCommand } from '../command.ts'
import { flag, parseOptions, text } from '../options.ts'
import { print } from '../output.ts'
import { createProgressBar } from '../progress-bar.ts'
import { modelsFolder, requireProject, withStore } from '../with-store.ts'
import { applyTable, revertTables } from './apply-table.ts'
import { formatReport } from './format-report.ts'
import { showTables } from './show-tables.ts'

export const calibrate: CliCommand = {
  name: 'calibrate',
  summary: 'measure false-match rates on the subjects of a gallery',
  usage: `facegate calibrate --project <id or name> [--exclude <pairs.csv>] [--down-to <rate>]
                   [--suspects <pairs.csv>] [--out <curve.svg>] [--apply] [--json]
facegate calibrate --project <id or name> --revert [--json]
facegate calibrate --project <id or name> --show [--json]

  The subjects of a gallery are different people. The command compares each of them with
  each other and measures how often different people reach a score in this gallery. It
  needs at least 200 subjects and works while the server runs.
  --apply: similarities and thresholds of this gallery use the measured rates from now on.
    Running servers use them within two seconds.
  --revert: the gallery uses the table of the model again.
  --show: the tables of the gallery, in use or not.
  --suspects: file for the pairs of subjects that are probably one person. Write yes in
    the column samePerson of each pair that you have checked.
  --exclude: this file. Its confirmed pairs are left out.
  --down-to: the lowest rate of the table, 1e-3 to 1e-6. By default the lowest that the
    number of subjects supports.
  --out: draws the curve (.svg or .png).`,
  run,
}

async function run(args: readonly string[]): Promise<void> {
  const values = parseOptions(args, {
    project: text,
    exclude: text,
    suspects: text,
    out: text,
    'down-to': text,
    apply: flag,
    revert: flag,
    show: flag,
  })
  const { revert, show, apply, json } = values
  if ([revert, show, apply].filter(Boolean).length > 1)
    throw new UsageError('--apply, --revert and --show cannot be combined')
  await withStore(async (store) => {
    const project = await requireProject(store, values.project)
    if (show) return showTables(store, project, json)
    if (revert) {
      const reverted = await revertTables(store, project)
      const result = `the gallery uses the table of the model; ${reverted.length} tables were reverted`
      return print({ reverted }, json, () => result)
    }
    return runCalibration(store, project, { ...values, downTo: parseRate(values['down-to']) })
  })
}

type CalibrationValues = {
  readonly exclude?: string | undefined
  readonly suspects?: string | undefined
  readonly out?: string | undefined
  readonly downTo: number | undefined
  readonly apply: boolean
  readonly json: boolean
}

async function runCalibration(
  store: Store,
  project: Project,
  { exclude, suspects, out, downTo, apply, json }: CalibrationValues,
): Promise<void> {
  if (out !== undefined) requireImageName(out)
  const confirmed = exclude === undefined ? [] : await readConfirmedPairs(exclude)
  const nowUtc = formatUtc((store.timeOfDay ?? Date.now)())
  const galleryId = galleryIdOf(project)
  const { recognizer } = await readActiveSet(modelsFolder())
  const shipped = await readRecognizerCalibration(recognizer)
  const templates = await decryptTemplates(store, { galleryId, modelId: shipped.modelId, nowUtc })
  const bar = createProgressBar('pairs')
  const result = calibrateGallery(templates, {
    galleryId,
    shipped,
    exclude: confirmed,
    downTo,
    measuredOn: nowUtc.slice(0, 10),
    onProgress: bar.update,
  })
  bar.end()
  await writeFiles({ suspects, out }, result, shipped)
  const applied = apply ? await applyTable(store, project, result) : null
  printResult(result.report, { applied, json })
}

/** @throws UsageError unless the value is a rate of a table, from 1e-3 down. */
function parseRate(value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  const rates = calibratedFmrs.filter((fmr) => fmr <= 1e-3)
  const rate = rates.find((fmr) => Number(value) === fmr)
  if (rate === undefined)
    throw new UsageError(
      `--down-to must be one of ${rates.map((fmr) => fmr.toExponential(0)).join(', ')}, not ${value}`,
    )
  return rate
}

function requireImageName(file: string): void {
  if (!['.svg', '.png'].includes(path.extname(file).toLowerCase()))
    throw new UsageError(`--out ${file}: the name of the curve must end in .svg or .png`)
}

async function decryptTemplates(
  store: Store,
  filter: Parameters<typeof readTemplates>[0],
): Promise<GalleryTemplates> {
  const keys = createSubjectKeys(openKeyring(masterKeyPath(readConfig(process.env))), Date.now)
  // The report counts templates that cannot be decrypted.
  const decryptStored = createDecryptStoredTemplate(keys, { error: () => undefined })
  const bar = createProgressBar('templates')
  const templates = await readTemplates(filter, { store, decryptStored, onProgress: bar.update })
  bar.end()
  return templates
}

async function writeFiles(
  { suspects, out }: Pick<CalibrationValues, 'suspects' | 'out'>,
  { calibration, report, scores }: GalleryCalibrationResult,
  shipped: Calibration,
): Promise<void> {
  if (suspects !== undefined) await writeSuspectedPairs(suspects, report.suspectedDuplicates)
  if (out !== undefined) await drawGalleryCurve(out, { scores, calibration, shipped })
}

type ResultOptions = { readonly applied: AppliedTable | null; readonly json: boolean }

function printResult(report: GalleryCalibrationReport, { applied, json }: ResultOptions): void {
  print({ ...report, applied }, json, () => formatReport(report, applied))
}
