import type { Store } from '../../../src/store/database.ts'

/** Counts the rows of a project in the tables that a deletion empties. */
export async function countRowsOf(
  { db }: Store,
  projectId: string,
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const table of [
    'crops',
    'webhooks',
    'webhookDeliveries',
    'livenessSessions',
    'livenessFrames',
    'buckets',
    'attempts',
  ] as const)
    counts[table] = (
      await db.selectFrom(table).select('projectId').where('projectId', '=', projectId).execute()
    ).length
  for (const table of ['subjects', 'galleryKeys', 'galleryCalibrations', 'galleryPages'] as const)
    counts[table] = (
      await db.selectFrom(table).select('galleryId').where('galleryId', '=', projectId).execute()
    ).length
  return counts
}
