import { mapSequential } from '../lib/account-context.ts'
import { ActionError } from '../lib/errors.ts'
import { faceCounts, findFaceOwners, moveFaces } from '../store/gallery/faces.ts'
import { findGallery, recordGalleryChange } from '../store/gallery/galleries.ts'
import { markForNewKey } from '../store/gallery/key-renewals.ts'
import { findSubjectsByIds, updateSubjectRow } from '../store/gallery/subjects.ts'
import { hasExpired } from '../store/gallery/expired-subjects.ts'
import type { SubjectRow } from '../store/gallery-schema.ts'
import type { ReadTx, Tx } from '../store/database.ts'
import { encryptForSubject } from './keys/encrypt-for-subject.ts'
import type { MergeSubjectsOptions } from './merge-subjects.ts'

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
export async function transferFaces(
  tx: Tx,
  transfer: FaceTransfer,
  options: MergeSubjectsOptions,
): Promise<number> {
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
  { keys, storeVectors, nowUtc }: MergeSubjectsOptions,
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
  return new ActionError('INVALID_REQUEST', `params.addFaceIds: ${text}`, {
    path: 'params.addFaceIds',
  })
}
