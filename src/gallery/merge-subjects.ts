import { mapSequential } from '../lib/account-context.ts'
import { dayMs } from '../lib/clock.ts'
import { ActionError, invalidRequest } from '../lib/errors.ts'
import { newId } from '../lib/ids.ts'
import type { ReadTx, Tx } from '../store/database.ts'
import type { SubjectRow } from '../store/gallery-schema.ts'
import { addMerge, packMemberships } from '../store/gallery/duplicates/subject-merges.ts'
import { hasExpired } from '../store/gallery/expired-subjects.ts'
import { faceCounts, findFaceOwners, findSubjectFaces, moveFaces } from '../store/gallery/faces.ts'
import { moveVerdicts, removeUndecided } from '../store/gallery/feedback/match-verdicts.ts'
import { listMatchDays, moveMatchDays } from '../store/gallery/feedback/match-days.ts'
import { findGallery, recordGalleryChange } from '../store/gallery/galleries.ts'
import { addGroups, findSubjectGroups } from '../store/gallery/groups.ts'
import { markForNewKey } from '../store/gallery/crops.ts'
import { findSubjectsByIds, updateSubjectRow } from '../store/gallery/subjects.ts'
import { deleteSubject, formerIdsOf } from './deletion/subject-deletion.ts'
import type { FaceChangeOptions } from './enrollment.ts'
import { type MergedState, encryptForSubject, encryptMerge } from './keys/subject-encryption.ts'
import { groupsMax } from './subject-update.ts'

/** The subject that ends, and the subject that receives its faces. Both are of one gallery. */
export type MergedSubjects = { readonly source: SubjectRow; readonly target: SubjectRow }

/**
 * Moves all faces and groups of a subject to another one, and deletes the first with a deletion
 * record. The faces keep their ids; their templates and crops are encrypted with the key of the
 * target, as are the templates of denied matches. Confirmed matches move, too. The target keeps its
 * ids, name, attributes and expiry. The merge can be undone for 30 days (`undoMerge`). Must be called
 * with the gallery locked in exclusive mode.
 *
 * @returns the deletion record of the source and the id to undo the merge with. The `embeddingCount` is
 *   0, because no template was deleted.
 * @throws ActionError TEMPLATE_LIMIT_REACHED or INVALID_REQUEST if the target would have too many
 *   faces or groups.
 */
export async function mergeSubjects(tx: Tx, merged: MergedSubjects, options: FaceChangeOptions) {
  const { source, target } = merged
  const { subjectId, galleryId } = target
  const { keys, storeVectors, nowUtc } = options
  const accountId = (await findGallery(tx, galleryId))?.accountId ?? ''
  const faces = await countMergedFaces(tx, merged, options)
  const mergeId = await recordMerge(tx, { ...merged, accountId }, options)
  // The search in memory filters the faces of the target by its groups: its change follows.
  await uniteGroups(tx, merged)
  const sequence = await recordGalleryChange(tx, { galleryId })
  await encryptForSubject(tx, { source, target, accountId, keys })
  const fromSubjectId = source.subjectId
  await moveFaces(tx, { galleryId, fromSubjectId, toSubjectId: subjectId, sequence })
  await removeUndecided(tx, fromSubjectId)
  await moveVerdicts(tx, { from: fromSubjectId, to: subjectId })
  const days = await listMatchDays(tx, fromSubjectId)
  await moveMatchDays(tx, { from: fromSubjectId, to: subjectId, days })
  await storeVectors(tx, target)
  const record = await deleteSubject(tx, source, nowUtc, target)
  await updateSubjectRow(tx, subjectId, {
    updatedAtUtc: nowUtc,
    lastSeenAtUtc: nowUtc,
    ...(faces > 0 && { withoutFaces: 0 }),
  })
  return { record, mergeId }
}

/** @throws ActionError TEMPLATE_LIMIT_REACHED. @returns the faces of both subjects. */
async function countMergedFaces(
  tx: Tx,
  { source, target }: MergedSubjects,
  { templatesPerSubject }: FaceChangeOptions,
): Promise<number> {
  const counts = await faceCounts(tx, [source.subjectId, target.subjectId])
  const faces = [...counts.values()].reduce((sum, count) => sum + count, 0)
  if (faces > templatesPerSubject)
    throw new ActionError(
      'TEMPLATE_LIMIT_REACHED',
      `the merged subject would have ${faces} templates; the limit is ${templatesPerSubject}. Delete faces of one of the subjects first`,
    )
  return faces
}

/** Adds the groups of the source to the target. @throws ActionError INVALID_REQUEST. */
async function uniteGroups(tx: Tx, { source, target }: MergedSubjects): Promise<void> {
  const groups = await findSubjectGroups(tx, [source.subjectId, target.subjectId])
  const united = new Set([...groups.values()].flat())
  if (united.size > groupsMax)
    throw invalidRequest(
      `the merged subject would have ${united.size} groups; a subject can have at most ${groupsMax}. Remove groups of one of the subjects first`,
    )
  await addGroups(tx, target, groups.get(source.subjectId) ?? [])
}

/** The time in which a merge can be undone. */
export const mergeUndoDays = 30

/** Stores what undoes a merge. Must be called before the merge changes anything. */
async function recordMerge(
  tx: Tx,
  { source, target, accountId }: MergedSubjects & { readonly accountId: string },
  { keys, nowUtc }: FaceChangeOptions,
): Promise<string> {
  const { subjectId, galleryId } = target
  const { projectId, externalId, displayName, attributes, expiresAtUtc } = source
  const bySubject = await findSubjectGroups(tx, [source.subjectId, subjectId])
  const groups = bySubject.get(source.subjectId) ?? []
  const own = bySubject.get(subjectId) ?? []
  const faces = await findSubjectFaces(tx, source.subjectId)
  const state: MergedState = {
    projectId,
    externalId,
    displayName,
    attributes,
    expiresAtUtc,
    formerIds: [source.subjectId, ...formerIdsOf(source)],
    faceIds: faces.map(({ faceId }) => faceId),
    matchDays: await listMatchDays(tx, source.subjectId),
  }
  const ids = { mergeId: newId(), galleryId, subjectId }
  const ciphertext = encryptMerge(await keys.unwrap(tx, target), { ...ids, accountId }, state)
  const mergedAtMs = Date.parse(nowUtc)
  const expiresAtMs = mergedAtMs + mergeUndoDays * dayMs
  const memberships = packMemberships(groups.map((name) => [name, !own.includes(name)]))
  await addMerge(tx, { ...ids, mergedAtMs, expiresAtMs, memberships, ciphertext })
  return ids.mergeId
}

/** Faces of other subjects, and the subject of the same gallery that receives them. */
export type FaceTransfer = { readonly target: SubjectRow; readonly faceIds: readonly string[] }

/** A subject with the ids of its faces that move. */
export type MovingFaces = { readonly source: SubjectRow; readonly faceIds: readonly string[] }

/**
 * Finds the other subjects that faces belong to. Faces that the target already has are left out, so
 * that a repeated request changes nothing.
 *
 * @throws ActionError INVALID_REQUEST if the gallery has no such face, or a subject would have no face
 *   left.
 */
export async function findMovingFaces(
  reading: ReadTx,
  { target, faceIds }: FaceTransfer,
  nowUtc: string,
): Promise<readonly MovingFaces[]> {
  const ids = [...new Set(faceIds.map((faceId) => faceId.toLowerCase()))]
  if (ids.length === 0) return []
  const owners = await findFaceOwners(reading, target.galleryId, ids)
  const bySubject = Map.groupBy(owners, ({ subjectId }) => subjectId)
  const found = await findSubjectsByIds(reading, target.galleryId, [...bySubject.keys()])
  const subjects = found.filter((subject) => !hasExpired(subject, nowUtc))
  const moving = subjects.map((source) => ({
    source,
    faceIds: (bySubject.get(source.subjectId) ?? []).map(({ faceId }) => faceId),
  }))
  if (moving.flatMap((one) => one.faceIds).length < ids.length)
    throw refusal('contains an id that is not a face of the gallery')
  const others = moving.filter(({ source }) => source.subjectId !== target.subjectId)
  const counts = await faceCounts(
    reading,
    others.map(({ source }) => source.subjectId),
  )
  if (others.some(({ source, faceIds: own }) => counts.get(source.subjectId) === own.length))
    throw refusal(
      'the last face of a subject cannot be moved; merge the subjects in the console, or use svc.deleteSubject and svc.enroll',
    )
  return others
}

/**
 * Moves faces to another subject. They keep their ids; their templates and crops are encrypted with
 * the key of the target, and the source is marked for a new key. The changes of both subjects get one
 * number. Must be called with the gallery locked in exclusive mode.
 *
 * @returns the number of moved faces.
 * @throws ActionError as `findMovingFaces`, and TEMPLATE_LIMIT_REACHED.
 */
export async function transferFaces(tx: Tx, transfer: FaceTransfer, options: FaceChangeOptions) {
  const { target } = transfer
  const { galleryId, subjectId } = target
  const moving = await findMovingFaces(tx, transfer, options.nowUtc)
  const count = moving.reduce((sum, { faceIds }) => sum + faceIds.length, 0)
  if (count === 0) return 0
  const faces = count + ((await faceCounts(tx, [subjectId])).get(subjectId) ?? 0)
  if (faces > options.templatesPerSubject)
    throw new ActionError(
      'TEMPLATE_LIMIT_REACHED',
      `the subject would have ${faces} templates; the limit is ${options.templatesPerSubject}. Remove faces of it first`,
    )
  const sequence = await recordGalleryChange(tx, { galleryId })
  await mapSequential(moving, (from) => moveFrom(tx, { ...from, target, sequence }, options))
  await options.storeVectors(tx, target)
  await updateSubjectRow(tx, subjectId, { updatedAtUtc: options.nowUtc, withoutFaces: 0 })
  return count
}

async function moveFrom(
  tx: Tx,
  { source, target, faceIds, sequence }: FaceTransfer & MovingFaces & { sequence: number },
  { keys, storeVectors, nowUtc }: FaceChangeOptions,
): Promise<void> {
  const { galleryId, subjectId } = target
  const accountId = (await findGallery(tx, galleryId))?.accountId ?? ''
  await encryptForSubject(tx, { source, target, faceIds, accountId, keys })
  // The key of the source could decrypt the replaced data in an older copy of the database.
  await markForNewKey(tx, faceIds)
  const fromSubjectId = source.subjectId
  await moveFaces(tx, { galleryId, fromSubjectId, toSubjectId: subjectId, faceIds, sequence })
  await storeVectors(tx, source)
  await updateSubjectRow(tx, fromSubjectId, { updatedAtUtc: nowUtc })
}

function refusal(text: string): ActionError {
  return invalidRequest(`params.addFaceIds: ${text}`, {
    path: 'params.addFaceIds',
  })
}
