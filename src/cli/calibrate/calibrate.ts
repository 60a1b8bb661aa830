import { print } from '../command.ts'
import { requireProject, withStore } from '../with-store.ts'
import { type CalibrationValues, revertTables, showTables } from './run-calibration.ts'

type CalibrateOptions = CalibrationValues & {
  readonly project: string
  readonly revert: boolean
  readonly show: boolean
}

/** Measures a gallery, or shows or reverts its tables. */
export async function calibrate(values: CalibrateOptions): Promise<void> {
  const { revert, show, json } = values
  await withStore(async (store) => {
    const project = await requireProject(store, values.project)
    if (show) return showTables(store, project, json)
    if (revert) {
      const reverted = await revertTables(store, project)
      const result = `the gallery uses the table of the model; ${reverted.length} tables were reverted`
      return print({ reverted }, json, () => result)
    }
    const { runCalibration } = await import('./run-calibration.ts')
    return runCalibration(store, project, values)
  })
}
