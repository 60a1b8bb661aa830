import type { Gallery } from '../gallery/gallery.ts'
import type { Finished, Workplace } from './serve.ts'

/** Who may delete one subject may not delete many: it takes what a whole group takes as well. */
export const clearPermissions = ['svc.deleteSubject', 'groups:delete'] as const

/**
 * Deletes everybody in the gallery, some at a time, each with its record.
 *
 * @param count what CompreFace counts of the records.
 */
export async function clear(
  { caller, services }: Workplace,
  count: (records: Awaited<ReturnType<Gallery['clear']>>) => number,
): Promise<Finished> {
  const records = await services.gallery.clear(caller.galleryId)
  return { effect: () => ({ body: { deleted: count(records) } }) }
}
