import { ActionError, invalidRequest } from '../lib/errors.ts'
import { recordGalleryChange } from '../store/gallery/galleries.ts'
import {
  countGroup,
  hasGroup,
  renameGroupOfSubjects,
  type GroupRenaming,
} from '../store/gallery/groups.ts'
import { renameGroupInMerges } from '../store/gallery/duplicates/subject-merges.ts'
import { renameGroupInFilters } from '../store/webhooks/events.ts'
import type { Tx } from '../store/database.ts'

/**
 * The most subjects of a group to rename: their faces are marked in one transaction, which takes 16 µs
 * per subject. With SQLite, all other calls wait for it.
 */
export const renamedSubjectsMax = 2500

/**
 * Renames a group of a gallery, also in the filters of webhooks and in the merges that can be undone.
 * Must be called with the gallery locked in exclusive mode.
 *
 * @returns the group with its new name.
 * @throws ActionError GROUP_NOT_FOUND; INVALID_REQUEST if the new name is in use, because two united
 *   groups cannot be separated, or the group is too large.
 */
export async function renameGroup(tx: Tx, renaming: GroupRenaming, nowUtc: string) {
  const { galleryId, name, newName } = renaming
  const subjectCount = await countGroup(tx, galleryId, { name })
  if (subjectCount === 0)
    throw new ActionError('GROUP_NOT_FOUND', 'There is no such group in the gallery.')
  if (newName === name) return { name, subjectCount }
  if (await hasGroup(tx, galleryId, { name: newName }))
    throw invalidRequest(
      `body.name: the group ${newName} exists. Use another name, or change the groups of the subjects`,
    )
  if (subjectCount > renamedSubjectsMax)
    throw invalidRequest(
      `the group has ${subjectCount} subjects; at most ${renamedSubjectsMax} can be renamed at once. Change the groups of the subjects with svc.updateSubject`,
    )
  const sequence = await recordGalleryChange(tx, { galleryId })
  await renameGroupInMerges(tx, renaming)
  await renameGroupInFilters(tx, renaming)
  await renameGroupOfSubjects(tx, { ...renaming, sequence, nowUtc })
  return { name: newName, subjectCount }
}
