import { calibrateGallery } from '../../gallery/calibration/measure/calibrate-gallery.ts'
import { drawGalleryCurve } from '../../evaluation/gallery/draw-gallery-curve.ts'
import { readConfirmedPairs, writeSuspectedPairs } from '../../evaluation/gallery/exclusion-file.ts'
import { readGallery } from '../../gallery/calibration/read-templates.ts'
import { formatUtc } from '../../lib/clock.ts'
import { readActiveSet } from '../../models/active-set.ts'
import { readRecognizerCalibration } from '../../start/active-models.ts'
import { masterKeyPath } from '../../start/store-location.ts'
import type { Store } from '../../store/database.ts'
import { galleryIdOf, type Project } from '../../store/tenancy/projects.ts'
import { type CommandValues, print } from '../command.ts'
import { showProgress } from '../progress-bar.ts'
import { readSettings, modelsFolder } from '../read-settings.ts'
import { applyTable } from './apply-table.ts'
import { formatReport } from './format-report.ts'

export type CalibrationValues = CommandValues<never, 'exclude' | 'suspects' | 'out'> & {
  readonly 'down-to': number | undefined
  readonly apply: boolean
}

/** Measures the gallery of a project, prints the report and writes the requested files. */
export async function runCalibration(
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
  const measuredOn = nowUtc.slice(0, 10)
  const result = await showProgress('pairs', (onProgress) =>
    calibrateGallery(templates, {
      galleryId,
      shipped,
      exclude: confirmed,
      downTo,
      measuredOn,
      onProgress,
    }),
  )
  const { calibration, report, scores } = result
  if (suspects !== undefined) await writeSuspectedPairs(suspects, report.suspectedDuplicates)
  if (out !== undefined) await drawGalleryCurve(out, { scores, calibration, shipped })
  const applied = apply ? await applyTable(store, project, result) : null
  print({ ...report, applied }, json, () => formatReport(report, applied))
}
