import { ActionError, invalidRequest } from '../../lib/errors.ts'
import { findSubjectFaces } from '../../store/gallery/faces.ts'
import { moveMatchDays } from '../../store/gallery/feedback/match-days.ts'
import { findMatchTemplates, moveVerdicts } from '../../store/gallery/feedback/match-verdicts.ts'
import { findGallery } from '../../store/gallery/galleries.ts'
import { addGroups } from '../../store/gallery/groups.ts'
import {
  findMerges,
  findMergesOfSubject,
  membershipsOf,
  packMemberships,
  removeMerge,
  updateMerge,
} from '../../store/gallery/duplicates/subject-merges.ts'
import { findSubject } from '../../store/gallery/subjects.ts'
import type { SubjectMergeRow, SubjectRow } from '../../store/gallery-schema.ts'
import type { Tx } from '../../store/database.ts'
import { formerIdsOf, storeFormerIds } from '../deletion/subject-deletion.ts'
import { type FaceChangeOptions, type OnExpiredDeleted, createSubject } from '../enrollment.ts'
import { decryptMerge, encryptForSubject, type MergedState } from '../keys/subject-encryption.ts'
import { mergeUndoDays, transferFaces } from '../merge-subjects.ts'
import { changeGroups, externalIdOf } from '../subject-update.ts'

export type MergeUndo = { readonly galleryId: string; readonly mergeId: string }

export type UndoMergeOptions = FaceChangeOptions & { readonly onDeleted: OnExpiredDeleted }

/**
 * Undoes a merge: creates a subject with the data of the merged one, and moves those of its faces to it
 * that the other subject still has. The groups that only this merge gave to the other subject are removed
 * from it, and the confirmed and denied matches of the merged subject return, with those of its counted
 * matches that the other subject still has. The subject has a new id, because the merge recorded the
 * deletion of the former one. Must be called with the gallery locked in exclusive mode.
 *
 * @returns the subject that exists again, and the one that it was merged into.
 * @throws ActionError SUBJECT_NOT_FOUND if there is no such merge, INVALID_REQUEST if one of both
 *   subjects would have no face or it has expired since, EXTERNAL_ID_CONFLICT if another subject has its
 *   external id.
 */
export async function undoMerge(tx: Tx, undo: MergeUndo, options: UndoMergeOptions) {
  const { galleryId, mergeId } = undo
  const { keys, nowUtc, onDeleted } = options
  const [merge] = await findMerges(tx, { galleryId, mergeId, nowMs: Date.parse(nowUtc) })
  const target = merge && (await findSubject(tx, galleryId, { subjectId: merge.subjectId }))
  if (!merge || !target)
    throw new ActionError(
      'SUBJECT_NOT_FOUND',
      `the gallery has no merge with this id that can be undone; a merge can be undone for ${mergeUndoDays} days, as long as its subject exists`,
    )
  const accountId = (await findGallery(tx, galleryId))?.accountId ?? ''
  const state = decryptMerge(
    await keys.unwrap(tx, target),
    { ...merge, accountId },
    merge.ciphertext,
  )
  const faceIds = await findFacesToReturn(tx, target, state)
  // The remaining subject may have it, too.
  const subjectId = ''
  await externalIdOf(tx, { ...target, subjectId }, state.externalId, options)
  const { projectId, externalId, displayName, expiresAtUtc } = state
  const subject = await createSubject(
    tx,
    keys,
    { galleryId, accountId, projectId },
    {
      externalId: externalId ?? undefined,
      displayName: displayName ?? undefined,
      expiresAtUtc: expiresAtUtc ?? undefined,
      // Stored as an object.
      attributes: JSON.parse(state.attributes) as Record<string, unknown>,
      withoutFaces: faceIds.length === 0,
      nowUtc,
      onDeleted,
    },
  )
  await storeFormerIds(tx, subject, state.formerIds)
  const left = formerIdsOf(target).filter((id) => !state.formerIds.includes(id))
  await storeFormerIds(tx, target, left)
  await addGroups(tx, subject, [...membershipsOf(merge).keys()])
  await removeAddedGroups(tx, target, merge)
  await transferFaces(tx, { target: subject, faceIds }, options)
  await returnVerdicts(tx, { source: target, target: subject, accountId, keys }, state)
  const [from, to] = [target.subjectId, subject.subjectId]
  await moveMatchDays(tx, { from, to, days: state.matchDays })
  await removeMerge(tx, mergeId)
  return { subject, target }
}

/** Another merge into the subject that includes a group keeps it, and its undo removes it. */
async function removeAddedGroups(tx: Tx, target: SubjectRow, merge: SubjectMergeRow) {
  const merges = await findMergesOfSubject(tx, target.subjectId)
  const others = merges
    .filter(({ mergeId }) => mergeId !== merge.mergeId)
    .map((other) => ({ ...other, groups: membershipsOf(other) }))
  const removeGroups: string[] = []
  for (const [name, isAdded] of membershipsOf(merge)) {
    if (!isAdded) continue
    const other = others.find(({ groups }) => groups.has(name))
    const memberships = other && packMemberships(other.groups.set(name, true))
    if (memberships) await updateMerge(tx, other.mergeId, { memberships })
    else removeGroups.push(name)
  }
  await changeGroups(tx, target, { removeGroups })
}

async function returnVerdicts(
  tx: Tx,
  change: Parameters<typeof encryptForSubject>[1],
  { formerIds: matchedIds }: MergedState,
): Promise<void> {
  const [from, to] = [change.source.subjectId, change.target.subjectId]
  const denied = await findMatchTemplates(tx, from, 'denied')
  const returned = denied.filter(({ matchedId }) => matchedIds.includes(matchedId))
  await encryptForSubject(tx, { ...change, faceIds: returned.map(({ faceId }) => faceId) })
  await moveVerdicts(tx, { from, to, matchedIds })
}

async function findFacesToReturn(tx: Tx, { subjectId }: SubjectRow, state: MergedState) {
  if (state.faceIds.length === 0) return []
  const present = (await findSubjectFaces(tx, subjectId)).map(({ faceId }) => faceId)
  const faceIds = state.faceIds.filter((faceId) => present.includes(faceId))
  const [moved, kept] = [faceIds.length, present.length - faceIds.length]
  if (moved > 0 && kept > 0) return faceIds
  throw invalidRequest(
    moved === 0
      ? 'the faces of the merged subject were deleted or moved since; enroll the person again'
      : 'only faces of the merged subject are left, so that the other subject would have none; rename the subject instead',
  )
}
