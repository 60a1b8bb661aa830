import { mapSequential } from '../lib/account-context.ts'
import { formatUtc } from '../lib/clock.ts'
import { ActionError, invalidRequest } from '../lib/errors.ts'
import { newId } from '../lib/ids.ts'
import type { ReadTx, Tx } from '../store/database.ts'
import type { SubjectRow } from '../store/gallery-schema.ts'
import { addCrop } from '../store/gallery/crops.ts'
import { countUnexpiredFaces, hasExpired } from '../store/gallery/expired-subjects.ts'
import { faceCounts, insertFace } from '../store/gallery/faces.ts'
import { createGallery, findGallery, recordGalleryChange } from '../store/gallery/galleries.ts'
import { addSubject, findSubject, updateSubjectRow } from '../store/gallery/subjects.ts'
import { addTemplate, findFaceTemplates, findSubjectTemplates } from '../store/gallery/templates.ts'
import type { KeyIdentity } from '../store/tenancy/keys.ts'
import type { Template } from '../vision/embed/template.ts'
import type { Calibrations } from './calibration/calibrations.ts'
import { deleteSubject } from './deletion/subject-deletion.ts'
import { type DecryptStoredTemplate, encryptTemplate } from './keys/template-encryption.ts'
import type { SubjectKeys } from './keys/keyring.ts'
import { encryptCrop } from './keys/subject-encryption.ts'
import type { GallerySearch } from './search/gallery-search.ts'

export type SubjectOwner = Pick<KeyIdentity, 'galleryId' | 'accountId' | 'projectId'>

export type NewSubject = {
  readonly externalId?: string | undefined
  readonly displayName?: string | undefined
  readonly attributes?: Readonly<Record<string, unknown>> | undefined
  readonly expiresAtUtc?: string | undefined
  /** Whether the transaction adds no face. The ledger audit reports any other subject without one. */
  readonly withoutFaces?: boolean
  /** The number of pictures with a visitor. */
  readonly visitCount?: number
}

export type FaceToEnroll = {
  readonly template: Template
  /** Templates of other models. */
  readonly furtherTemplates?: readonly Template[]
  readonly qualityScore: number
  /** The face and its surroundings as a JPEG, for projects that store crops. */
  readonly crop?: { readonly jpeg: Buffer; readonly projectId: string } | undefined
}

/** These limits count faces. A face may have templates of several models. */
export type EnrollLimits = {
  readonly templatesPerSubject: number
  readonly templatesPerGallery: number
}

/**
 * Creates a subject without faces, and its key.
 *
 * @throws ActionError INVALID_REQUEST if its expiry is not in the future.
 */
export async function createSubject(
  tx: Tx,
  keys: SubjectKeys,
  owner: SubjectOwner,
  subject: NewSubject & { readonly nowUtc: string; readonly onDeleted?: OnExpiredDeleted },
): Promise<SubjectRow> {
  const { attributes = {}, externalId, nowUtc, onDeleted = () => {} } = subject
  const { galleryId, accountId, projectId } = owner
  requireFutureExpiry(subject.expiresAtUtc, Date.parse(nowUtc))
  await createGallery(tx, { galleryId, accountId })
  if (externalId !== undefined)
    await findExternalIdHolder(tx, { galleryId, externalId }, { nowUtc, onDeleted })
  const subjectId = newId()
  const { keyId, wrappedKey } = await keys.create(tx, { subjectId, galleryId })
  const row: SubjectRow = {
    subjectId,
    galleryId,
    projectId,
    externalId: externalId ?? null,
    displayName: subject.displayName ?? null,
    attributes: JSON.stringify(attributes),
    keyId,
    wrappedKey,
    createdAtUtc: nowUtc,
    updatedAtUtc: nowUtc,
    expiresAtUtc: normaliseUtc(subject.expiresAtUtc),
    lastSeenAtUtc: nowUtc,
    withoutFaces: subject.withoutFaces ? 1 : 0,
    visitCount: subject.visitCount ?? null,
  }
  await addSubject(tx, row)
  await recordGalleryChange(tx, { galleryId, subjects: 1 })
  return row
}

/** Times are compared as text, so all of them are stored with milliseconds. */
export function normaliseUtc(text: string | null | undefined): string | null {
  return text ? new Date(text).toISOString() : null
}

/** What changes of the faces of subjects need. */
export type FaceChangeOptions = Pick<EnrollLimits, 'templatesPerSubject'> & {
  readonly keys: SubjectKeys
  readonly storeVectors: GallerySearch['storeVectors']
  readonly nowUtc: string
}

type AddFaceOptions = EnrollLimits & FaceChangeOptions

/**
 * Adds a face to a subject.
 *
 * @returns the id of the face.
 * @throws ActionError TEMPLATE_LIMIT_REACHED or GALLERY_FULL.
 */
export async function addFace(
  tx: Tx,
  subject: SubjectRow,
  { template, furtherTemplates = [], qualityScore, crop }: FaceToEnroll,
  options: AddFaceOptions,
): Promise<string> {
  const { subjectId, galleryId } = subject
  const { keys, storeVectors, nowUtc } = options
  const accountId = await requireCapacity(tx, subject, options)
  const faceId = newId()
  const key = await keys.unwrap(tx, subject)
  const binding = { accountId, galleryId, subjectId, faceId }
  const sequence = await recordGalleryChange(tx, { galleryId, faces: 1 })
  await insertFace(tx, {
    faceId,
    subjectId,
    galleryId,
    sequence,
    qualityScore,
    createdAtUtc: nowUtc,
  })
  for (const ofModel of [template, ...furtherTemplates]) {
    const { modelId } = ofModel
    const ciphertext = encryptTemplate(key, { ...binding, modelId }, ofModel)
    await addTemplate(tx, { galleryId, faceId, modelId, ciphertext })
  }
  await storeVectors(tx, subject)
  if (crop) {
    const { projectId, jpeg } = crop
    await addCrop(tx, { faceId, projectId, ciphertext: encryptCrop(key, binding, jpeg) })
  }
  const change = { updatedAtUtc: nowUtc, lastSeenAtUtc: nowUtc, withoutFaces: 0 } as const
  await updateSubjectRow(tx, subjectId, change)
  return faceId
}

/**
 * @returns the account id of the gallery.
 * @throws ActionError TEMPLATE_LIMIT_REACHED or GALLERY_FULL.
 */
async function requireCapacity(
  tx: Tx,
  { subjectId, galleryId }: SubjectRow,
  { templatesPerSubject, templatesPerGallery, nowUtc }: AddFaceOptions,
): Promise<string> {
  const gallery = await findGallery(tx, galleryId)
  if (!gallery) throw new Error(`gallery ${galleryId} does not exist`)
  if (((await faceCounts(tx, [subjectId])).get(subjectId) ?? 0) >= templatesPerSubject)
    throw new ActionError(
      'TEMPLATE_LIMIT_REACHED',
      `the subject has reached the limit of ${templatesPerSubject} templates`,
      { subjectId },
    )
  // Expired faces are counted only if they make a difference.
  const isFull = async (): Promise<boolean> =>
    (await countUnexpiredFaces(tx, { galleryId, nowUtc })) >= templatesPerGallery
  if (gallery.templateCount >= templatesPerGallery && (await isFull()))
    throw new ActionError(
      'GALLERY_FULL',
      `the gallery has reached the limit of ${templatesPerGallery} templates`,
    )
  return gallery.accountId
}

/** @throws ActionError INVALID_REQUEST unless the time, if there is one, is in the future. */
export function requireFutureExpiry(expiresAtUtc: string | null | undefined, nowMs: number): void {
  if (!expiresAtUtc || Date.parse(expiresAtUtc) > nowMs) return
  throw invalidRequest(
    `params.expiresAtUtc: must be after ${formatUtc(nowMs)}, the current time of the service`,
  )
}

/**
 * Returns the subject that has an external id. An expired one is deleted instead, with a deletion
 * record, so that another subject can have the id.
 *
 * @param onDeleted is called after the deletion of an expired subject, in the same transaction.
 */
export async function findExternalIdHolder(
  tx: Tx,
  { galleryId, externalId }: { readonly galleryId: string; readonly externalId: string },
  { nowUtc, onDeleted }: { readonly nowUtc: string; readonly onDeleted: OnExpiredDeleted },
): Promise<SubjectRow | undefined> {
  const holder = await findSubject(tx, galleryId, { externalId })
  if (!holder || !hasExpired(holder, nowUtc)) return holder
  await deleteSubject(tx, holder, nowUtc)
  await onDeleted(tx, holder, nowUtc)
  return undefined
}

export type OnExpiredDeleted = (tx: Tx, subject: SubjectRow, nowUtc: string) => Promise<void> | void

type StoredFacesOptions = {
  readonly read: <T>(work: (reading: ReadTx) => Promise<T>) => Promise<T>
  readonly decryptStored: DecryptStoredTemplate
  readonly calibrations: Calibrations
  readonly formerModels: (galleryId: string) => Promise<readonly string[]>
}

/** A subject, or only one of its faces. */
type StoredFaceFilter = {
  readonly subject: SubjectRow
  readonly faceId?: string | undefined
}

/**
 * Decrypts the templates of stored faces for a search: one per model, that of the active model first.
 * Only the templates are decrypted by which the faces of the gallery are compared: one per face, unless
 * the gallery has faces of former models.
 */
export function createReadStoredFaces({
  read,
  decryptStored,
  calibrations,
  formerModels,
}: StoredFacesOptions) {
  return async ({ subject, faceId }: StoredFaceFilter) => {
    const modelIds = [calibrations.activeModelId, ...(await formerModels(subject.galleryId))]
    const placeOf = ({ modelId }: Template): number => modelIds.indexOf(modelId)
    return read(async (reading) => {
      const rows =
        faceId === undefined
          ? await findSubjectTemplates(reading, [subject.subjectId])
          : await findFaceTemplates(reading, [faceId])
      const used = rows.filter(({ modelId }) => modelIds.includes(modelId))
      const byFace = [...Map.groupBy(used, (row) => row.faceId)]
      const faces = await mapSequential(byFace, async ([id, ofFace]) => {
        const decrypted = await mapSequential(ofFace, (row) => decryptStored(reading, row))
        const templates = decrypted.flatMap((template) => template ?? [])
        return { faceId: id, templates: templates.toSorted((a, b) => placeOf(a) - placeOf(b)) }
      })
      return faces.filter(({ templates }) => templates.length > 0)
    })
  }
}
