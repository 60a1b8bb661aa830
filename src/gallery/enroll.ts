import { ActionError } from '../lib/errors.ts'
import { newId } from '../lib/ids.ts'
import { addCrop } from '../store/gallery/crops.ts'
import { faceCounts, insertFace } from '../store/gallery/faces.ts'
import { recordGalleryChange, createGallery, findGallery } from '../store/gallery/galleries.ts'
import type { SubjectRow } from '../store/schema.ts'
import { addSubject, updateSubjectRow } from '../store/gallery/subjects.ts'
import { addTemplate } from '../store/gallery/templates.ts'
import type { Tx } from '../store/tx.ts'
import type { Template } from '../vision/image-analysis.ts'
import { encryptCrop } from './keys/crop-encryption.ts'
import type { GallerySearch } from './search/gallery-search.ts'
import type { SubjectKeys } from './keys/subject-keys.ts'
import { encryptTemplate } from './keys/template-encryption.ts'

export type SubjectOwner = {
  readonly galleryId: string
  readonly accountId: string
  readonly projectId: string
}

export type NewSubject = {
  readonly externalId?: string | undefined
  readonly displayName?: string | undefined
  readonly attributes?: Readonly<Record<string, unknown>> | undefined
  readonly expiresAtUtc?: string | undefined
}

/** A face to be remembered. */
export type FaceToEnroll = {
  readonly template: Template
  readonly qualityScore: number
  /** A JPEG of it and what is around it, for projects that have it stored. */
  readonly crop?: CropToStore | undefined
}

type CropToStore = { readonly jpeg: Buffer; readonly projectId: string }

/** Faces are counted, however many models describe each. */
export type EnrollLimits = {
  readonly templatesPerSubject: number
  readonly templatesPerGallery: number
}

/** Makes a subject, without templates yet, under a key of its own. */
export async function createSubject(
  tx: Tx,
  keys: SubjectKeys,
  owner: SubjectOwner,
  subject: NewSubject & { readonly nowUtc: string },
): Promise<SubjectRow> {
  const { attributes = {}, nowUtc } = subject
  const { galleryId, accountId, projectId } = owner
  await createGallery(tx, { galleryId, accountId })
  const subjectId = newId()
  const { keyId, wrappedKey } = await keys.create(tx, { subjectId, galleryId })
  const row: SubjectRow = {
    subjectId,
    galleryId,
    projectId,
    externalId: subject.externalId ?? null,
    displayName: subject.displayName ?? null,
    attributes: JSON.stringify(attributes),
    keyId,
    wrappedKey,
    createdAtUtc: nowUtc,
    updatedAtUtc: nowUtc,
    expiresAtUtc: normaliseUtc(subject.expiresAtUtc),
    lastSeenAtUtc: nowUtc,
  }
  await addSubject(tx, row)
  await recordGalleryChange(tx, { galleryId, subjects: 1 })
  return row
}

/** Times are compared as text: all have milliseconds. */
export function normaliseUtc(text: string | null | undefined): string | null {
  return text ? new Date(text).toISOString() : null
}

export type AddFaceOptions = EnrollLimits & {
  readonly keys: SubjectKeys
  /** Tells the search of a template, in the same transaction. */
  readonly storeVector: GallerySearch['storeVector']
  readonly nowUtc: string
}

/**
 * Remembers one more face of a subject.
 *
 * @returns its id.
 * @throws ActionError TEMPLATE_LIMIT_REACHED or GALLERY_FULL.
 */
export async function addFace(
  tx: Tx,
  subject: SubjectRow,
  { template, qualityScore, crop }: FaceToEnroll,
  adding: AddFaceOptions,
): Promise<string> {
  const { subjectId, galleryId } = subject
  const { keys, storeVector, nowUtc } = adding
  const tenantId = await requireCapacity(tx, subject, adding)
  const faceId = newId()
  const { modelId } = template
  const key = await keys.unwrap(tx, subject)
  const place = { tenantId, galleryId, subjectId, faceId }
  const sequence = await recordGalleryChange(tx, { galleryId, faces: 1 })
  await insertFace(tx, {
    faceId,
    subjectId,
    galleryId,
    sequence,
    qualityScore,
    createdAtUtc: nowUtc,
  })
  const sealed = encryptTemplate(key, { ...place, modelId }, template)
  await addTemplate(tx, { galleryId, faceId, modelId, sealed })
  await storeVector(tx, place, template)
  if (crop) {
    const { projectId, jpeg } = crop
    await addCrop(tx, { faceId, projectId, sealed: encryptCrop(key, place, jpeg) })
  }
  await updateSubjectRow(tx, subjectId, { updatedAtUtc: nowUtc, lastSeenAtUtc: nowUtc })
  return faceId
}

/** @returns the account of the gallery. @throws ActionError TEMPLATE_LIMIT_REACHED, GALLERY_FULL. */
async function requireCapacity(
  tx: Tx,
  { subjectId, galleryId }: SubjectRow,
  { templatesPerSubject, templatesPerGallery }: EnrollLimits,
): Promise<string> {
  const gallery = await findGallery(tx, galleryId)
  if (!gallery) throw new Error(`there is no gallery ${galleryId}`)
  if (((await faceCounts(tx, [subjectId])).get(subjectId) ?? 0) >= templatesPerSubject)
    throw new ActionError(
      'TEMPLATE_LIMIT_REACHED',
      `the subject has ${templatesPerSubject} templates, the most there may be`,
    )
  if (gallery.templateCount >= templatesPerGallery)
    throw new ActionError(
      'GALLERY_FULL',
      `the gallery has ${templatesPerGallery} templates, the most there may be`,
    )
  return gallery.accountId
}
