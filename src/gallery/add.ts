import { ActionError } from '../lib/errors.ts'
import { newId } from '../lib/ids.ts'
import { countChange, createGallery, findGallery } from '../store/galleries.ts'
import type { SubjectRow } from '../store/schema.ts'
import { addSubject, changeSubject } from '../store/subjects.ts'
import { addTemplate, templateCounts } from '../store/templates.ts'
import type { Tx } from '../store/tx.ts'
import type { Template } from '../vision/view.ts'
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
export type NewFace = { readonly template: Template; readonly qualityScore: number }

export type AddLimits = {
  readonly templatesPerSubject: number
  readonly templatesPerGallery: number
}

/** Makes a subject, without templates yet, under a key of its own. */
export function createSubject(
  tx: Tx,
  keys: SubjectKeys,
  owner: Owner,
  subject: NewSubject & { readonly nowUtc: string },
): SubjectRow {
  const { attributes = {}, nowUtc } = subject
  const { galleryId, accountId, projectId } = owner
  createGallery(tx, { galleryId, accountId })
  const subjectId = newId()
  const { keyId, wrappedKey } = keys.create(tx, { subjectId, galleryId })
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
  addSubject(tx, row)
  countChange(tx, { galleryId, subjects: 1 })
  return row
}

/** Times are compared as text: all have milliseconds. */
export function normalUtc(text: string | null | undefined): string | null {
  return text ? new Date(text).toISOString() : null
}

export type Adding = AddLimits & {
  readonly keys: SubjectKeys
  readonly nowUtc: string
}

/**
 * Remembers one more face of a subject.
 *
 * @returns its id.
 * @throws ActionError TEMPLATE_LIMIT_REACHED or GALLERY_FULL.
 */
export function addFace(
  tx: Tx,
  subject: SubjectRow,
  { template, qualityScore }: NewFace,
  adding: Adding,
): string {
  const { subjectId, galleryId } = subject
  const { keys, nowUtc } = adding
  const gallery = findGallery(tx, galleryId)
  if (!gallery) throw new Error(`there is no gallery ${galleryId}`)
  if ((templateCounts(tx, [subjectId]).get(subjectId) ?? 0) >= adding.templatesPerSubject)
    throw new ActionError(
      'TEMPLATE_LIMIT_REACHED',
      `the subject has ${adding.templatesPerSubject} templates, the most there may be`,
    )
  if (gallery.templateCount >= adding.templatesPerGallery)
    throw new ActionError(
      'GALLERY_FULL',
      `the gallery has ${adding.templatesPerGallery} templates, the most there may be`,
    )
  const faceId = newId()
  const { modelId } = template
  const place = { tenantId: gallery.accountId, galleryId, subjectId, faceId, modelId }
  const sealed = sealTemplate(keys.open(tx, subject), place, template)
  const sequence = countChange(tx, { galleryId, templates: 1 })
  addTemplate(tx, {
    faceId,
    subjectId,
    galleryId,
    sequence,
    modelId,
    sealed,
    qualityScore,
    createdAtUtc: nowUtc,
  })
  changeSubject(tx, subjectId, { updatedAtUtc: nowUtc, lastSeenAtUtc: nowUtc })
  return faceId
}
