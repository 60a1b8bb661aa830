import { ActionError } from '../lib/errors.ts'
import { findSubjectFaces, removeFaces, markSubjectFacesChanged } from '../store/gallery/faces.ts'
import { recordGalleryChange } from '../store/gallery/galleries.ts'
import { addGroups, findSubjectGroups, removeGroups } from '../store/gallery/groups.ts'
import type { SubjectRow } from '../store/schema.ts'
import { updateSubjectRow, findSubject } from '../store/gallery/subjects.ts'
import type { Tx } from '../store/tx.ts'
import { normaliseUtc } from './enroll.ts'

/** What to change of a subject; what is left out stays. */
export type SubjectUpdate = {
  readonly externalId?: string | null | undefined
  readonly displayName?: string | null | undefined
  /** A JSON merge patch (RFC 7396). */
  readonly attributes?: Readonly<Record<string, unknown>> | undefined
  readonly expiresAtUtc?: string | null | undefined
  readonly addGroups?: readonly string[] | undefined
  readonly removeGroups?: readonly string[] | undefined
  readonly removeFaceIds?: readonly string[] | undefined
}

const groupsMax = 20
const attributesBytesMax = 4096

/**
 * Changes a subject.
 *
 * @throws ActionError EXTERNAL_ID_CONFLICT when another subject has the id; INVALID_REQUEST for too
 *   many groups, too long attributes, a face that is not the subject's, or when none would be left.
 */
export async function updateSubject(
  tx: Tx,
  subject: SubjectRow,
  update: SubjectUpdate,
  nowUtc: string,
): Promise<SubjectRow> {
  const { subjectId } = subject
  if (update.removeFaceIds) await removeListedFaces(tx, subject, update.removeFaceIds)
  await changeGroups(tx, subject, update)
  const change = {
    externalId: await externalIdOf(tx, subject, update.externalId),
    displayName: update.displayName === undefined ? subject.displayName : update.displayName,
    attributes: attributesOf(subject, update.attributes),
    expiresAtUtc:
      update.expiresAtUtc === undefined ? subject.expiresAtUtc : normaliseUtc(update.expiresAtUtc),
    updatedAtUtc: nowUtc,
  }
  await updateSubjectRow(tx, subjectId, change)
  return { ...subject, ...change }
}

async function externalIdOf(tx: Tx, subject: SubjectRow, wanted: string | null | undefined) {
  if (wanted === undefined) return subject.externalId
  if (wanted === null) return null
  const holder = await findSubject(tx, subject.galleryId, { externalId: wanted })
  if (!holder || holder.subjectId === subject.subjectId) return wanted
  throw new ActionError('EXTERNAL_ID_CONFLICT', 'another subject has this externalId')
}

function attributesOf(subject: SubjectRow, patch: SubjectUpdate['attributes']): string {
  if (patch === undefined) return subject.attributes
  const merged = JSON.stringify(mergePatch(JSON.parse(subject.attributes), patch))
  if (Buffer.byteLength(merged) > attributesBytesMax)
    throw new ActionError(
      'INVALID_REQUEST',
      `params.attributes: must be at most ${attributesBytesMax} bytes of JSON`,
    )
  return merged
}

/** RFC 7396: null takes a field away, objects are merged, anything else replaces. */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const entries = new Map(isObject(target) ? Object.entries(target) : [])
  for (const [name, value] of Object.entries(patch))
    if (value === null) entries.delete(name)
    else entries.set(name, mergePatch(entries.get(name), value))
  return Object.fromEntries(entries)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Copies of the gallery in memory filter by groups: they look at the faces again. */
async function changeGroups(tx: Tx, subject: SubjectRow, update: SubjectUpdate): Promise<void> {
  const { subjectId, galleryId } = subject
  const before = (await findSubjectGroups(tx, [subjectId])).get(subjectId) ?? []
  await removeGroups(tx, subject, update.removeGroups ?? [])
  await addGroups(tx, subject, update.addGroups ?? [])
  const after = (await findSubjectGroups(tx, [subjectId])).get(subjectId) ?? []
  if (after.length > groupsMax)
    throw new ActionError('INVALID_REQUEST', `params.addGroups: a subject has at most ${groupsMax}`)
  if (before.join(' ') !== after.join(' '))
    await markSubjectFacesChanged(tx, subjectId, await recordGalleryChange(tx, { galleryId }))
}

async function removeListedFaces(
  tx: Tx,
  subject: SubjectRow,
  faceIds: readonly string[],
): Promise<void> {
  const own = new Set((await findSubjectFaces(tx, subject.subjectId)).map(({ faceId }) => faceId))
  const wanted = new Set(faceIds.map((faceId) => faceId.toLowerCase()))
  if (wanted.size === 0) return
  if (!wanted.isSubsetOf(own))
    throw new ActionError('INVALID_REQUEST', 'params.removeFaceIds: not all are of this subject')
  if (wanted.size === own.size)
    throw new ActionError(
      'INVALID_REQUEST',
      'params.removeFaceIds: the last template stays; svc.deleteSubject deletes the subject',
    )
  const { galleryId } = subject
  const sequence = await recordGalleryChange(tx, { galleryId, faces: -wanted.size })
  await removeFaces(tx, { galleryId, sequence }, [...wanted])
}
