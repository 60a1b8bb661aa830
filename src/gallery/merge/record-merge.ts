import { newId } from '../../lib/ids.ts'
import { findSubjectFaces } from '../../store/gallery/faces.ts'
import { findGallery } from '../../store/gallery/galleries.ts'
import { findSubjectGroups } from '../../store/gallery/groups.ts'
import { addMerge } from '../../store/gallery/duplicates/subject-merges.ts'
import type { SubjectRow } from '../../store/gallery-schema.ts'
import type { Tx } from '../../store/database.ts'
import { encryptMerge, type MergedState } from '../keys/merge-encryption.ts'
import type { SubjectKeys } from '../keys/subject-keys.ts'
import { dayMs } from '../../lib/clock.ts'

/** The time in which a merge can be undone. */
export const mergeUndoDays = 30

/** Stores what undoes a merge. Must be called before the merge changes anything. */
export async function recordMerge(
  tx: Tx,
  { source, target }: { readonly source: SubjectRow; readonly target: SubjectRow },
  { keys, nowUtc }: { readonly keys: SubjectKeys; readonly nowUtc: string },
): Promise<string> {
  const { subjectId, galleryId } = target
  const { projectId, externalId, displayName, attributes, expiresAtUtc } = source
  const bySubject = await findSubjectGroups(tx, [source.subjectId, subjectId])
  const groups = bySubject.get(source.subjectId) ?? []
  const own = new Set(bySubject.get(subjectId))
  const faces = await findSubjectFaces(tx, source.subjectId)
  const state: MergedState = {
    projectId,
    externalId,
    displayName,
    attributes,
    expiresAtUtc,
    groups,
    addedGroups: groups.filter((name) => !own.has(name)),
    faceIds: faces.map(({ faceId }) => faceId),
  }
  const accountId = (await findGallery(tx, galleryId))?.accountId ?? ''
  const ids = { mergeId: newId(), galleryId, subjectId }
  const ciphertext = encryptMerge(await keys.unwrap(tx, target), { ...ids, accountId }, state)
  const mergedAtMs = Date.parse(nowUtc)
  const expiresAtMs = mergedAtMs + mergeUndoDays * dayMs
  await addMerge(tx, { ...ids, mergedAtMs, expiresAtMs, ciphertext })
  return ids.mergeId
}
