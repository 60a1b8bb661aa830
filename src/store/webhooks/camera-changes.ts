import type { Selectable } from 'kysely'
import { dayMs, weekMs } from '../../lib/clock.ts'
import type { MeasuredChange } from '../../lib/observability/camera-changes.ts'
import type { KeyRow } from '../schema.ts'
import { unfrozenProjects } from '../tenancy/projects.ts'
import { type ReadTx, type Tx, sql } from '../database.ts'

export type UsedKeyFilter = {
  /** Keys that were used since then. */
  readonly usedSinceUtc: string
  /** Keys without a report since then. */
  readonly reportedBeforeMs: number
}

/** Finds valid keys whose calls can be compared with those of the weeks before. */
export function findUsedKeys(tx: ReadTx, { usedSinceUtc, reportedBeforeMs }: UsedKeyFilter) {
  const query = tx.build
    .selectFrom('keys')
    .innerJoin('projects', 'projects.projectId', 'keys.projectId')
    .select(['keyId', 'keys.projectId', 'accountId', 'keys.name', 'prefix', 'last4'])
    .where('lastUsedAtUtc', '>=', usedSinceUtc)
    .where('isHidden', '=', 0)
    .where('revokedAtUtc', 'is', null)
    .where(isNotReported(reportedBeforeMs))
    .where('keys.projectId', 'in', unfrozenProjects(tx))
  return tx.run(query.orderBy('keyId'))
}

export type CameraReport = Pick<Selectable<KeyRow>, 'keyId' | 'cameraChangesAtMs'> & {
  readonly changes: readonly MeasuredChange[]
  readonly reportedBeforeMs: number
}

/** Stores the changes at the key. @returns false if another server has stored them already. */
export async function recordCameraChanges(
  tx: Tx,
  { keyId, cameraChangesAtMs, changes, reportedBeforeMs }: CameraReport,
): Promise<boolean> {
  const query = tx.build
    .updateTable('keys')
    .set({ cameraChangesAtMs, cameraChanges: JSON.stringify(changes) })
    .where('keyId', '=', keyId)
    .where(isNotReported(reportedBeforeMs))
  return (await tx.run(query.returning('keyId'))).length > 0
}

/** A report of a later time is from a clock that was wrong; clocks of servers differ by less than a day. */
function isNotReported(beforeMs: number) {
  const ofWrongClock = sql<boolean>`"cameraChangesAtMs" > ${beforeMs + weekMs + dayMs}`
  return sql<boolean>`("cameraChangesAtMs" <= ${beforeMs} or ${ofWrongClock})`
}

export type ReportedKeyFilter = {
  readonly accountId: string
  readonly projectId?: string | undefined
  readonly sinceMs: number
}

/** Finds the keys of an account whose changes were reported since a time. */
export async function findReportedKeys(
  tx: ReadTx,
  { accountId, projectId, sinceMs }: ReportedKeyFilter,
) {
  let query = tx.build
    .selectFrom('keys')
    .innerJoin('projects', 'projects.projectId', 'keys.projectId')
    .select(['keyId', 'keys.projectId', 'keys.name', 'projects.name as projectName'])
    .select('cameraChanges')
    .where('accountId', '=', accountId)
    .where('cameraChangesAtMs', '>', sinceMs)
    .where('revokedAtUtc', 'is', null)
  if (projectId !== undefined) query = query.where('keys.projectId', '=', projectId)
  const rows = await tx.run(query.orderBy('keyId'))
  return rows.map(({ cameraChanges, ...key }) => ({
    ...key,
    changes: JSON.parse(cameraChanges ?? '[]') as readonly MeasuredChange[],
  }))
}
