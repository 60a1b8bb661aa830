import {
  applyMeasuredTable,
  type AppliedTable,
  type MeasuredTable,
} from '../../gallery/calibration/apply-measured-table.ts'
import { formatUtc } from '../../lib/utc.ts'
import { addAuditEntry } from '../../store/console/audit-log.ts'
import type { Store } from '../../store/database.ts'
import { endCalibrations } from '../../store/gallery/calibration/calibrations.ts'
import { galleryIdOf, type Project } from '../../store/tenancy/projects.ts'
import type { Tx } from '../../store/tx.ts'

const actor = { userId: null, userName: 'command line', ip: '' }

/** Makes a table the one that the gallery uses for its model. */
export async function applyTable(
  store: Store,
  project: Project,
  table: MeasuredTable,
): Promise<AppliedTable> {
  const atMs = (store.timeOfDay ?? Date.now)()
  return store.write(async (tx) => {
    const change = { atMs, by: actor.userName }
    const { applied, detail } = await applyMeasuredTable(tx, table, change)
    await audit(tx, project, { atMs, act: 'calibration.apply', detail })
    return applied
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
  const atMs = (store.timeOfDay ?? Date.now)()
  const change = { atUtc: formatUtc(atMs), by: actor.userName }
  return store.write(async (tx) => {
    const calibrationIds = await endCalibrations(tx, galleryId, change)
    if (calibrationIds.length === 0)
      throw new Error(`the gallery of ${project.name} uses the table of the model already`)
    const detail = { galleryId, calibrationIds }
    await audit(tx, project, { atMs, act: 'calibration.revert', detail })
    return calibrationIds
  })
}

type AuditedChange = { readonly atMs: number; readonly act: string; readonly detail: object }

function audit(tx: Tx, project: Project, { atMs, act, detail }: AuditedChange): Promise<void> {
  const { accountId, projectId: target } = project
  const text = JSON.stringify(detail)
  return addAuditEntry(tx, { accountId, atMs, ...actor, act, target, detail: text })
}
