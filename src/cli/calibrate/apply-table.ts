import {
  applyMeasuredTable,
  type AppliedTable,
  type MeasuredTable,
} from '../../gallery/calibration/apply-measured-table.ts'
import { formatUtc } from '../../lib/clock.ts'
import { commandLineName } from '../../store/console/audit-log.ts'
import type { Store } from '../../store/database.ts'
import { endCalibrations } from '../../store/gallery/calibration/applied-calibrations.ts'
import { galleryIdOf, type Project } from '../../store/tenancy/projects.ts'
import { auditedChange } from '../audit/audited-change.ts'

/** Makes a table the one that the gallery uses for its model. */
export async function applyTable(
  store: Store,
  project: Project,
  table: MeasuredTable,
): Promise<AppliedTable> {
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
export async function revertTables(store: Store, project: Project): Promise<readonly string[]> {
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
