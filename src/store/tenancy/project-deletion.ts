import type { ReadTx, Tx } from '../database.ts'
import { visitorsGalleryId } from '../gallery/visitors.ts'
import type { Database, ProjectRow } from '../schema.ts'
import { deletedEvents } from '../webhooks-schema.ts'

/** Revokes all keys of a project, deletes its liveness sessions, and begins to delete its webhooks. */
export async function endAccess(db: Database, projectId: string, nowUtc: string): Promise<void> {
  const keys = db.updateTable('keys').set({ revokedAtUtc: nowUtc })
  await keys.where('projectId', '=', projectId).where('revokedAtUtc', 'is', null).execute()
  await db.deleteFrom('livenessSessions').where('projectId', '=', projectId).execute()
  const webhooks = db.updateTable('webhooks').set({ events: deletedEvents })
  await webhooks.where('projectId', '=', projectId).execute()
}

/** Deletes completed calls with their stored responses. @returns the number, at most the limit. */
export async function deleteCompletedAttempts(
  { build, run }: Tx,
  projectId: string,
  limit: number,
): Promise<number> {
  const completed = attemptsOf(build, projectId).where('state', '=', 'done').limit(limit)
  const query = build.deleteFrom('attempts').where('projectId', '=', projectId)
  return (await run(query.where('requestId', 'in', completed).returning('requestId'))).length
}

/** Whether calls run or have stored responses, or webhooks are not deleted yet. */
export async function hasAttemptsOrWebhooks({ build, run }: ReadTx, projectId: string) {
  const webhooks = build.selectFrom('webhooks').select('webhookId')
  const found = await run(webhooks.where('projectId', '=', projectId))
  return found.length > 0 || (await run(attemptsOf(build, projectId).limit(1))).length > 0
}

function attemptsOf(build: Database, projectId: string) {
  return build.selectFrom('attempts').select('requestId').where('projectId', '=', projectId)
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
  // In a shared gallery. Denials apply to all projects, and stay with their subjects.
  const confirmed = db.deleteFrom('matchVerdicts').where('verdict', '=', 'confirmed')
  await confirmed.where('projectId', '=', projectId).execute()
  await db.deleteFrom('buckets').where('projectId', '=', projectId).execute()
  const change = { deletedAtUtc, name: `${name} (deleted ${deletedAtUtc})` }
  const query = db.updateTable('projects').set(change).where('projectId', '=', projectId)
  await query.where('deletedAtUtc', 'is', null).execute()
}
