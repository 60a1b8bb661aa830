import { drawGalleryCurve } from '../../evaluation/gallery/draw-gallery-curve.ts'
import {
  formatSuspectedPairs,
  readConfirmedPairs,
} from '../../evaluation/gallery/exclusion-file.ts'
import { type MeasuredTable, applyMeasuredTable } from '../../gallery/calibration/calibrations.ts'
import { calibrateGallery } from '../../gallery/calibration/measure/calibrate-gallery.ts'
import { parseCalibration } from '../../gallery/calibration/read-calibration.ts'
import { readGallery } from '../../gallery/calibration/read-templates.ts'
import { dayOf, formatUtc } from '../../lib/clock.ts'
import { readActiveSet } from '../../models/active-set.ts'
import { recognizerModelId } from '../../models/model-set.ts'
import { readRecognizerCalibration } from '../../start/active-models.ts'
import { masterKeyPath } from '../../start/store-location.ts'
import { commandLineName } from '../../store/console/audit-log.ts'
import type { Store } from '../../store/database.ts'
import type { GalleryCalibrationRow } from '../../store/gallery-schema.ts'
import {
  endCalibrations,
  findGalleryCalibrations,
} from '../../store/gallery/calibration/applied-calibrations.ts'
import { type Project, galleryIdOf } from '../../store/tenancy/projects.ts'
import { auditedChange } from '../audit/audited-change.ts'
import { writeNewFile } from '../command-line/write-new-file.ts'
import { type CommandValues, formatRows, print, showProgress } from '../command.ts'
import { modelsFolder, readSettings } from '../read-settings.ts'
import { requireProject, withStore } from '../with-store.ts'
import { formatReport } from './format-report.ts'

type CalibrationValues = CommandValues<'project', 'exclude' | 'suspects' | 'out'> & {
  readonly 'down-to': number | undefined
  readonly apply: boolean
  readonly revert: boolean
  readonly show: boolean
}

/** Measures a gallery, or shows or reverts its tables. */
export async function calibrate(values: CalibrationValues): Promise<void> {
  const { revert, show, json } = values
  await withStore(async (store) => {
    const project = await requireProject(store, values.project)
    if (show) return showTables(store, project, json)
    if (!revert) return runCalibration(store, project, values)
    const reverted = await revertTables(store, project)
    const result = `the gallery uses the table of the model; reverted tables: ${reverted.length}`
    return print({ reverted }, json, () => result)
  })
}

/** Measures the gallery of a project, prints the report and writes the requested files. */
async function runCalibration(
  store: Store,
  project: Project,
  { exclude, suspects, out, 'down-to': downTo, apply, json }: CalibrationValues,
): Promise<void> {
  const confirmed = exclude === undefined ? [] : await readConfirmedPairs(exclude)
  const nowUtc = formatUtc((store.timeOfDay ?? Date.now)())
  const galleryId = galleryIdOf(project)
  const { recognizer } = await readActiveSet(modelsFolder())
  const shipped = await readRecognizerCalibration(recognizer)
  const filter = { galleryId, modelId: shipped.modelId, nowUtc }
  const masterKeyFile = masterKeyPath(readSettings())
  const templates = await showProgress('templates', (onProgress) =>
    readGallery(filter, { store, masterKeyFile, onProgress }),
  )
  const result = await showProgress('pairs', (onProgress) =>
    calibrateGallery(templates, {
      galleryId,
      shipped,
      exclude: confirmed,
      downTo,
      measuredOn: dayOf(nowUtc),
      onProgress,
    }),
  )
  const { calibration, report, scores } = result
  if (suspects !== undefined)
    await writeNewFile(suspects, formatSuspectedPairs(report.suspectedDuplicates))
  if (out !== undefined) await drawGalleryCurve(out, { scores, calibration, shipped })
  const applied = apply ? await applyTable(store, project, result) : null
  print({ ...report, applied }, json, () => formatReport(report, applied))
}

/** Makes a table the one that the gallery uses for its model. */
async function applyTable(store: Store, project: Project, table: MeasuredTable) {
  const { accountId, projectId: target } = project
  return auditedChange(store, 'calibration.apply', async ({ tx, nowMs }) => {
    const change = { atMs: nowMs, by: commandLineName }
    const { applied: result, detail } = await applyMeasuredTable(tx, table, change)
    return { result, accountId, target, detail }
  })
}

/**
 * Returns the gallery to the tables of the models.
 *
 * @returns the ids of the tables, which stay as history.
 * @throws Error if the gallery uses no table.
 */
async function revertTables(store: Store, project: Project): Promise<readonly string[]> {
  const galleryId = galleryIdOf(project)
  const { accountId, projectId: target } = project
  return auditedChange(store, 'calibration.revert', async ({ tx, nowMs }) => {
    const change = { atUtc: formatUtc(nowMs), by: commandLineName }
    const calibrationIds = await endCalibrations(tx, galleryId, change)
    if (calibrationIds.length === 0)
      throw new Error(`the gallery of ${project.name} uses the table of the model already`)
    const detail = { galleryId, calibrationIds }
    return { result: calibrationIds, accountId, target, detail }
  })
}

/** Prints the tables of a gallery, the newest first. */
async function showTables(store: Store, project: Project, json: boolean): Promise<void> {
  const galleryId = galleryIdOf(project)
  const { recognizer } = await readActiveSet(modelsFolder())
  const activeModelId = recognizerModelId(recognizer)
  const rows = await store.read((reading) => findGalleryCalibrations(reading, galleryId))
  const tables = rows.map(({ definition, ...row }) => ({
    ...row,
    /** How the rates were measured. */
    method: parseCalibration(definition, 'the stored table').method,
    state: stateOf(row, activeModelId),
  }))
  const inUse = tables.some(({ state }) => state === 'in use') ? 'gallery' : 'model'
  print({ galleryId, activeModelId, calibration: inUse, tables }, json, () =>
    [
      inUse === 'gallery'
        ? `the gallery uses its table for ${activeModelId}`
        : `the gallery uses the table of the model ${activeModelId}`,
      ...(tables.length > 0 ? [formatRows(tables, tableColumns)] : []),
    ].join('\n'),
  )
}

/** `other model`: the table is kept, but it has no effect on templates of the active model. */
function stateOf(
  { endedAtUtc, modelId }: Pick<GalleryCalibrationRow, 'endedAtUtc' | 'modelId'>,
  activeModelId: string,
): 'in use' | 'other model' | 'ended' {
  if (endedAtUtc !== null) return 'ended'
  return modelId === activeModelId ? 'in use' : 'other model'
}

const tableColumns = {
  state: 'state',
  model: 'modelId',
  subjects: 'subjects',
  pairs: 'pairs',
  applied: 'appliedAtUtc',
  by: 'appliedBy',
  ended: 'endedAtUtc',
  'ended by': 'endedBy',
} as const
