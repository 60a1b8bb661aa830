import type { CallOutput } from '../../gate/settle.ts'
import type { Maintenance } from '../../gallery/gallery.ts'
import type { Tx } from '../../store/database.ts'
import type { CallContext, CompreFaceReply } from '../serve-route.ts'

/**
 * Locks the caller's gallery and changes its subjects in the transaction that settles the call.
 *
 * @param change returns the body of the response.
 */
export function changeSubjects(
  { caller: { galleryId }, services: { subjects, maintenance } }: CallContext,
  change: (tx: Tx) => Promise<unknown>,
): CallOutput<CompreFaceReply> {
  return {
    effect: async (tx) => {
      await subjects.lock(tx, galleryId, 'exclusive')
      return { body: await change(tx) }
    },
    afterCommit: () => maintenance.purge(galleryId),
  }
}

/** Deleting all subjects also needs the permission to delete a group. */
export const deleteAllPermissions = ['svc.deleteSubject', 'groups:delete'] as const

/**
 * Deletes all subjects of the gallery in batches, each subject with its deletion record.
 *
 * @param count returns the number that CompreFace reports for these records.
 */
export async function deleteAllSubjects(
  { caller, services }: CallContext,
  count: (records: Awaited<ReturnType<Maintenance['clear']>>) => number,
): Promise<CallOutput<CompreFaceReply>> {
  const records = await services.maintenance.clear(caller.galleryId)
  return { outcome: { body: { deleted: count(records) } } }
}
