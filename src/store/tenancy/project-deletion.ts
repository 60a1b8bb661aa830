import { type ReadTx, type Tx, sql } from '../database.ts'
import { deleteBatch } from '../delete-in-batches.ts'
import { visitorsGalleryId } from '../gallery/visitors.ts'
import type { Database, ProjectRow } from '../schema.ts'
import { deletedEvents } from '../webhooks-schema.ts'

/** Revokes all keys of a project, and begins to delete its webhooks. */
export async function endAccess(db: Database, projectId: string, nowUtc: string): Promise<void> {
  const keys = db.updateTable('keys').set({ revokedAtUtc: nowUtc })
  await keys.where('projectId', '=', projectId).where('revokedAtUtc', 'is', null).execute()
  const webhooks = db.updateTable('webhooks').set({ events: deletedEvents })
  await webhooks.where('projectId', '=', projectId).execute()
}

/** The tables whose rows of a project are deleted in batches, and which of these rows. */
const deletedRows = {
  attempts: sql`state = 'done'`,
  livenessFrames: sql`true`,
  livenessSessions: sql`true`,
  // In a shared gallery. Denials apply to all projects, and stay with their subjects.
  matchVerdicts: sql`verdict = 'confirmed'`,
} as const

/** Deletes a batch of the rows of a project. @returns the number. */
export function deleteProjectRows(
  tx: Tx,
  table: keyof typeof deletedRows,
  projectId: string,
): Promise<number> {
  return deleteBatch(tx, table, sql`"projectId" = ${projectId} and ${deletedRows[table]}`)
}

/** Whether calls run or have stored responses, or liveness sessions or webhooks are not deleted yet. */
export async function hasRemainingRows({ build, run }: ReadTx, projectId: string) {
  for (const table of ['attempts', 'livenessSessions', 'webhooks'] as const) {
    const rows = build.selectFrom(table).select('projectId').where('projectId', '=', projectId)
    if ((await run(rows.limit(1))).length > 0) return true
  }
  return false
}

/**
 * Marks a project as deleted. The row stays, because the ledger and the logs refer to it; its new name
 * makes the former one available. No call is admitted without a bucket, also with a key that another
 * process created meanwhile.
 */
export async function markDeleted(
  db: Database,
  { projectId, name }: Pick<ProjectRow, 'projectId' | 'name'>,
  deletedAtUtc: string,
): Promise<void> {
  const galleryIds = [projectId, visitorsGalleryId(projectId)]
  for (const table of ['galleryCalibrations', 'galleryKeys'] as const)
    await db.deleteFrom(table).where('galleryId', 'in', galleryIds).execute()
  // Few: those that a call confirmed after the batches.
  const confirmed = db.deleteFrom('matchVerdicts').where('verdict', '=', 'confirmed')
  await confirmed.where('projectId', '=', projectId).execute()
  await db.deleteFrom('buckets').where('projectId', '=', projectId).execute()
  const change = { deletedAtUtc, name: `${name} (deleted ${deletedAtUtc})` }
  const query = db.updateTable('projects').set(change).where('projectId', '=', projectId)
  await query.where('deletedAtUtc', 'is', null).execute()
}
