import type { GalleryCalibrationResult } from '../../evaluation/gallery/calibrate-gallery.ts'
import { newId } from '../../lib/ids.ts'
import { formatUtc } from '../../lib/utc.ts'
import { addAuditEntry } from '../../store/console/audit-log.ts'
import type { Store } from '../../store/database.ts'
import { addCalibration, endCalibrations } from '../../store/gallery/calibration/calibrations.ts'
import { galleryIdOf, type Project } from '../../store/tenancy/projects.ts'
import type { Tx } from '../../store/tx.ts'

/** The row of an applied table. */
export type AppliedTable = {
  readonly calibrationId: string
  readonly galleryId: string
  readonly modelId: string
  readonly appliedAtUtc: string
  readonly appliedBy: string
}

const actor = { userId: null, userName: 'command line', ip: '' }

/** Pairs that an audit entry lists; it always has their number. */
const auditedPairsMax = 20

/** Makes a table the one that the gallery uses for its model. */
export async function applyTable(
  store: Store,
  project: Project,
  { calibration, report }: GalleryCalibrationResult,
): Promise<AppliedTable> {
  const atMs = (store.timeOfDay ?? Date.now)()
  const { galleryId, modelId, subjects, pairs, lowestFmr, excluded } = report
  const applied = {
    calibrationId: newId(),
    galleryId,
    modelId,
    appliedAtUtc: formatUtc(atMs),
    appliedBy: actor.userName,
  }
  const excludedIds = excluded
    .slice(0, auditedPairsMax)
    .map(({ subjectA, subjectB }) => [subjectA.subjectId, subjectB.subjectId])
  const { calibrationId } = applied
  const change = { galleryId, calibrationId, modelId, subjects, pairs, lowestFmr }
  const detail = { ...change, excludedPairs: excluded.length, excluded: excludedIds }
  const definition = JSON.stringify(calibration)
  await store.write(async (tx) => {
    await addCalibration(tx, { ...applied, subjects, pairs, definition })
    await audit(tx, project, { atMs, act: 'calibration.apply', detail })
  })
  return applied
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
