import type { Gallery } from '../../gallery/gallery.ts'
import type { CallOutput } from '../../gate/settle.ts'
import type { CompreFaceReply, CallContext } from '../serve-route.ts'

/** Who may delete one subject may not delete many: it takes what a whole group takes as well. */
export const deleteAllPermissions = ['svc.deleteSubject', 'groups:delete'] as const

/**
 * Deletes everybody in the gallery, some at a time, each with its record.
 *
 * @param count what CompreFace counts of the records.
 */
export async function deleteAllSubjects(
  { caller, services }: CallContext,
  count: (records: Awaited<ReturnType<Gallery['clear']>>) => number,
): Promise<CallOutput<CompreFaceReply>> {
  const records = await services.gallery.clear(caller.galleryId)
  return { outcome: { body: { deleted: count(records) } } }
}
