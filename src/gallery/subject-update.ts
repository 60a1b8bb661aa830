import { ActionError, invalidRequest } from '../lib/errors.ts'
import { findSubjectFaces, removeFaces, markSubjectChanged } from '../store/gallery/faces.ts'
import { recordGalleryChange } from '../store/gallery/galleries.ts'
import { markForNewKey } from '../store/gallery/crops.ts'
import { addGroups, findSubjectGroups, removeGroups } from '../store/gallery/groups.ts'
import type { SubjectRow } from '../store/gallery-schema.ts'
import { updateSubjectRow } from '../store/gallery/subjects.ts'
import type { ReadTx, Tx } from '../store/database.ts'
import {
  type OnExpiredDeleted,
  findExternalIdHolder,
  normaliseUtc,
  requireFutureExpiry,
} from './enrollment.ts'
import type { GallerySearch } from './search/gallery-search.ts'

/** The fields to change; omitted fields keep their values. */
export type SubjectUpdate = {
  readonly externalId?: string | null | undefined
  readonly displayName?: string | null | undefined
  /** A JSON merge patch (RFC 7396). */
  readonly attributes?: Readonly<Record<string, unknown>> | undefined
  readonly expiresAtUtc?: string | null | undefined
  readonly addGroups?: readonly string[] | undefined
  readonly removeGroups?: readonly string[] | undefined
  readonly removeFaceIds?: readonly string[] | undefined
  /** Whether the call has already changed the subject: it has added a face. */
  readonly isChanged?: boolean
}

export type UpdateSubjectOptions = {
  readonly nowUtc: string
  /** See `findExternalIdHolder`. */
  readonly onDeleted: OnExpiredDeleted
  readonly storeVectors: GallerySearch['storeVectors']
}

export const groupsMax = 20
const attributesBytesMax = 4096

/**
 * Updates a subject. Without an effective change its row stays as it is, with `updatedAtUtc`.
 *
 * @throws ActionError EXTERNAL_ID_CONFLICT if another subject has the external id; INVALID_REQUEST
 *   for an expiry that is not in the future, too many groups, too long attributes, the id of another
 *   subject's face, or the removal of all faces.
 */
export async function updateSubject(
  tx: Tx,
  subject: SubjectRow,
  update: SubjectUpdate,
  options: UpdateSubjectOptions,
): Promise<SubjectRow> {
  const { subjectId, galleryId } = subject
  const { nowUtc } = options
  requireFutureExpiry(update.expiresAtUtc, Date.parse(nowUtc))
  const { isChanged = false, removeFaceIds = [] } = update
  if (!isChanged && removeFaceIds.length === 0 && !(await changesSubject(tx, subject, update)))
    return subject
  await removeListedFaces(tx, { subject, faceIds: removeFaceIds }, options)
  await changeGroups(tx, subject, update)
  const externalId = await externalIdOf(tx, subject, update.externalId, options)
  const change = { ...updatedFields(subject, update), externalId, updatedAtUtc: nowUtc }
  await updateSubjectRow(tx, subjectId, change)
  // The search in memory holds the expiry and must reload it.
  if (change.expiresAtUtc !== subject.expiresAtUtc)
    await markSubjectChanged(tx, {
      subjectId,
      sequence: await recordGalleryChange(tx, { galleryId }),
    })
  return { ...subject, ...change }
}

/** Returns the fields of a subject after an update. */
function updatedFields(subject: SubjectRow, update: SubjectUpdate) {
  const { externalId, displayName, attributes, expiresAtUtc } = update
  return {
    externalId: externalId === undefined ? subject.externalId : externalId,
    displayName: displayName === undefined ? subject.displayName : displayName,
    attributes: attributesOf(subject, attributes),
    expiresAtUtc: expiresAtUtc === undefined ? subject.expiresAtUtc : normaliseUtc(expiresAtUtc),
  }
}

/** Whether an update would change the fields or the groups of a subject; faces are not compared. */
export async function changesSubject(reading: ReadTx, subject: SubjectRow, update: SubjectUpdate) {
  const { subjectId } = subject
  const { addGroups = [], removeGroups = [] } = update
  const { externalId, displayName, attributes, expiresAtUtc } = updatedFields(subject, update)
  const groups = new Set((await findSubjectGroups(reading, [subjectId])).get(subjectId))
  return (
    externalId !== subject.externalId ||
    displayName !== subject.displayName ||
    attributes !== subject.attributes ||
    expiresAtUtc !== subject.expiresAtUtc ||
    addGroups.some((name) => !groups.has(name)) ||
    removeGroups.some((name) => groups.has(name))
  )
}

/** @throws ActionError EXTERNAL_ID_CONFLICT if another subject of the gallery has it. */
export async function externalIdOf(
  tx: Tx,
  { subjectId, galleryId, ...subject }: Pick<SubjectRow, 'subjectId' | 'galleryId' | 'externalId'>,
  externalId: string | null | undefined,
  options: UpdateSubjectOptions,
): Promise<string | null> {
  if (externalId === undefined) return subject.externalId
  if (externalId === null) return null
  const existing = await findExternalIdHolder(tx, { galleryId, externalId }, options)
  if (!existing || existing.subjectId === subjectId) return externalId
  throw new ActionError('EXTERNAL_ID_CONFLICT', 'another subject has this externalId', {
    path: 'params.externalId',
    subjectId: existing.subjectId,
    hint: 'Use another externalId, or remove it from that subject first with externalId null.',
  })
}

function attributesOf(subject: SubjectRow, patch: SubjectUpdate['attributes']): string {
  if (patch === undefined) return subject.attributes
  const merged = JSON.stringify(mergePatch(JSON.parse(subject.attributes), patch))
  if (Buffer.byteLength(merged) > attributesBytesMax)
    throw invalidRequest(`params.attributes: must be at most ${attributesBytesMax} bytes of JSON`)
  return merged
}

/** RFC 7396: null removes a field, objects are merged, other values replace. */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const fields = new Map(isObject(target) ? Object.entries(target) : [])
  for (const [name, value] of Object.entries(patch))
    if (value === null) fields.delete(name)
    else fields.set(name, mergePatch(fields.get(name), value))
  return Object.fromEntries(fields)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Marks the faces as changed: the search in memory filters by groups and must reload them. */
export async function changeGroups(
  tx: Tx,
  subject: SubjectRow,
  update: Pick<SubjectUpdate, 'addGroups' | 'removeGroups'>,
): Promise<void> {
  const { subjectId, galleryId } = subject
  const before = (await findSubjectGroups(tx, [subjectId])).get(subjectId) ?? []
  await removeGroups(tx, subject, update.removeGroups ?? [])
  await addGroups(tx, subject, update.addGroups ?? [])
  const after = (await findSubjectGroups(tx, [subjectId])).get(subjectId) ?? []
  if (after.length > groupsMax)
    throw invalidRequest(`params.addGroups: a subject can have at most ${groupsMax} groups`)
  if (before.join(' ') !== after.join(' '))
    await markSubjectChanged(tx, {
      subjectId,
      sequence: await recordGalleryChange(tx, { galleryId }),
    })
}

async function removeListedFaces(
  tx: Tx,
  { subject, faceIds }: { readonly subject: SubjectRow; readonly faceIds: readonly string[] },
  { storeVectors }: UpdateSubjectOptions,
): Promise<void> {
  const existing = new Set(
    (await findSubjectFaces(tx, subject.subjectId)).map(({ faceId }) => faceId),
  )
  const toRemove = new Set(faceIds.map((faceId) => faceId.toLowerCase()))
  if (toRemove.size === 0) return
  if (!toRemove.isSubsetOf(existing))
    throw invalidRequest('params.removeFaceIds: contains an id that is not a face of this subject')
  if (toRemove.size === existing.size)
    throw invalidRequest(
      'params.removeFaceIds: the last face cannot be removed; use svc.deleteSubject to delete the subject',
    )
  const { galleryId, subjectId } = subject
  const sequence = await recordGalleryChange(tx, { galleryId, faces: -toRemove.size })
  await markForNewKey(tx, [...toRemove])
  await removeFaces(tx, { galleryId, subjectId, sequence }, [...toRemove])
  await storeVectors(tx, subject)
}
