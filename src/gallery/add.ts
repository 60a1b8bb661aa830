import { ActionError } from '../lib/errors.ts'
import { newId } from '../lib/ids.ts'
import { addCrop } from '../store/crops.ts'
import { faceCounts, recordFace } from '../store/faces.ts'
import { countChange, createGallery, findGallery } from '../store/galleries.ts'
import type { SubjectRow } from '../store/schema.ts'
import { addSubject, changeSubject } from '../store/subjects.ts'
import { addTemplate } from '../store/templates.ts'
import type { Tx } from '../store/tx.ts'
import type { Template } from '../vision/view.ts'
import { sealCrop } from './crop-seal.ts'
import type { GallerySearch } from './search/gallery-search.ts'
import type { SubjectKeys } from './subject-keys.ts'
import { sealTemplate } from './template-seal.ts'

export type Owner = {
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
export type NewFace = {
  readonly template: Template
  readonly qualityScore: number
  /** A JPEG of it and what is around it, for projects that have it stored. */
  readonly crop?: StoredCrop | undefined
}

type StoredCrop = { readonly jpeg: Buffer; readonly projectId: string }

/** Faces are counted, however many models describe each. */
export type AddLimits = {
  readonly templatesPerSubject: number
  readonly templatesPerGallery: number
}

/** Makes a subject, without templates yet, under a key of its own. */
export async function createSubject(
  tx: Tx,
  keys: SubjectKeys,
  owner: Owner,
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
    expiresAtUtc: normalUtc(subject.expiresAtUtc),
    lastSeenAtUtc: nowUtc,
  }
  await addSubject(tx, row)
  await countChange(tx, { galleryId, subjects: 1 })
  return row
}

/** Times are compared as text: all have milliseconds. */
export function normalUtc(text: string | null | undefined): string | null {
  return text ? new Date(text).toISOString() : null
}

export type Adding = AddLimits & {
  readonly keys: SubjectKeys
  /** Tells the search of a template, in the same transaction. */
  readonly remember: GallerySearch['remember']
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
  { template, qualityScore, crop }: NewFace,
  adding: Adding,
): Promise<string> {
  const { subjectId, galleryId } = subject
  const { keys, remember, nowUtc } = adding
  const tenantId = await requireRoom(tx, subject, adding)
  const faceId = newId()
  const { modelId } = template
  const key = await keys.open(tx, subject)
  const place = { tenantId, galleryId, subjectId, faceId }
  const sequence = await countChange(tx, { galleryId, faces: 1 })
  await recordFace(tx, {
    faceId,
    subjectId,
    galleryId,
    sequence,
    qualityScore,
    createdAtUtc: nowUtc,
  })
  const sealed = sealTemplate(key, { ...place, modelId }, template)
  await addTemplate(tx, { galleryId, faceId, modelId, sealed })
  await remember(tx, place, template)
  if (crop) {
    const { projectId, jpeg } = crop
    await addCrop(tx, { faceId, projectId, sealed: sealCrop(key, place, jpeg) })
  }
  await changeSubject(tx, subjectId, { updatedAtUtc: nowUtc, lastSeenAtUtc: nowUtc })
  return faceId
}

/** @returns the account of the gallery. @throws ActionError TEMPLATE_LIMIT_REACHED, GALLERY_FULL. */
async function requireRoom(
  tx: Tx,
  { subjectId, galleryId }: SubjectRow,
  { templatesPerSubject, templatesPerGallery }: AddLimits,
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
