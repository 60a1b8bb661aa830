import { decrypt, encrypt } from '../../lib/crypto/aes-gcm.ts'
import type { Tx } from '../../store/database.ts'
import type { SubjectMergeRow, SubjectRow } from '../../store/gallery-schema.ts'
import {
  findSubjectCrops,
  replaceCropCiphertext,
  replaceSubjectKey,
  replaceTemplateCiphertext,
} from '../../store/gallery/crops.ts'
import {
  findMergesOfSubject,
  replaceMergeCiphertext,
} from '../../store/gallery/duplicates/subject-merges.ts'
import { findSubjectTemplates } from '../../store/gallery/templates.ts'
import type { SubjectKeys } from './keyring.ts'
import { type TemplateBinding, decryptTemplate, encryptTemplate } from './template-encryption.ts'

/** A subject with the account of its gallery. */
type SubjectToRenew = SubjectRow & { readonly accountId: string }

/**
 * Encrypts the templates, crops and merges of a subject with a new key, and destroys its old key. Data that
 * was deleted before can then no longer be decrypted with a key of the database. Must be called with
 * the gallery locked in exclusive mode.
 *
 * A ciphertext that was changed or moved stays as it is: it could not be decrypted before either.
 *
 * @returns the number of such ciphertexts.
 * @throws Error if the key of the subject cannot be unwrapped.
 */
export async function renewSubjectKey(
  tx: Tx,
  subject: SubjectToRenew,
  keys: SubjectKeys,
): Promise<number> {
  const { subjectId, galleryId, accountId } = subject
  const oldKey = await keys.unwrap(tx, subject)
  const { key, ...wrapped } = await keys.create(tx, subject)
  let unreadable = 0
  for (const { faceId, modelId, ciphertext } of await findSubjectTemplates(tx, [subjectId])) {
    const binding = { accountId, galleryId, subjectId, faceId, modelId }
    const template = decrypted(() => decryptTemplate(oldKey, binding, ciphertext))
    if (!template) unreadable += 1
    else {
      const replacement = encryptTemplate(key, binding, template)
      template.vector.fill(0)
      await replaceTemplateCiphertext(tx, { galleryId, faceId, modelId, ciphertext: replacement })
    }
  }
  for (const { faceId, ciphertext } of await findSubjectCrops(tx, subjectId)) {
    const binding = { accountId, galleryId, subjectId, faceId }
    const jpeg = decrypted(() => decryptCrop(oldKey, binding, ciphertext))
    if (!jpeg) unreadable += 1
    else {
      await replaceCropCiphertext(tx, { faceId, ciphertext: encryptCrop(key, binding, jpeg) })
      jpeg.fill(0)
    }
  }
  for (const { mergeId, ciphertext } of await findMergesOfSubject(tx, subjectId)) {
    const binding = { accountId, galleryId, subjectId, mergeId }
    const state = decrypted(() => decryptMerge(oldKey, binding, ciphertext))
    if (!state) unreadable += 1
    else
      await replaceMergeCiphertext(tx, { mergeId, ciphertext: encryptMerge(key, binding, state) })
  }
  await replaceSubjectKey(tx, subjectId, wrapped)
  return unreadable
}

/** Returns undefined if the ciphertext was changed or is bound to other ids. */
function decrypted<T>(decrypt: () => T): T | undefined {
  try {
    return decrypt()
  } catch {
    return undefined
  }
}

type Reencryption = {
  readonly source: SubjectRow
  readonly target: SubjectRow
  /** The faces to encrypt; all of the source if omitted. */
  readonly faceIds?: readonly string[]
  /** The account of the gallery of both. */
  readonly accountId: string
  readonly keys: SubjectKeys
}

/**
 * Encrypts templates and crops of a subject with the key of another one and binds them to its id.
 * A ciphertext that was changed or moved stays as it is: it could not be decrypted before either.
 *
 * @throws Error if a key cannot be unwrapped.
 */
export async function encryptForSubject(
  tx: Tx,
  { source, target, faceIds, accountId, keys }: Reencryption,
): Promise<void> {
  const { galleryId } = target
  const [oldKey, newKey] = [await keys.unwrap(tx, source), await keys.unwrap(tx, target)]
  const isMoved = ({ faceId }: { faceId: string }) => faceIds?.includes(faceId) ?? true
  const stored = await findSubjectTemplates(tx, [source.subjectId])
  for (const { faceId, modelId, ciphertext } of stored.filter(isMoved)) {
    const binding = { accountId, galleryId, faceId, modelId }
    const from = { ...binding, subjectId: source.subjectId }
    const template = decrypted(() => decryptTemplate(oldKey, from, ciphertext))
    if (!template) continue
    const to = { ...binding, subjectId: target.subjectId }
    const replacement = encryptTemplate(newKey, to, template)
    await replaceTemplateCiphertext(tx, { galleryId, faceId, modelId, ciphertext: replacement })
    template.vector.fill(0)
  }
  const crops = await findSubjectCrops(tx, source.subjectId)
  for (const { faceId, ciphertext } of crops.filter(isMoved)) {
    const binding = { accountId, galleryId, faceId }
    const from = { ...binding, subjectId: source.subjectId }
    const jpeg = decrypted(() => decryptCrop(oldKey, from, ciphertext))
    if (!jpeg) continue
    const to = { ...binding, subjectId: target.subjectId }
    await replaceCropCiphertext(tx, { faceId, ciphertext: encryptCrop(newKey, to, jpeg) })
    jpeg.fill(0)
  }
}

/** The ids that a crop is bound to. A ciphertext cannot be decrypted with other ids. */
type CropBinding = Omit<TemplateBinding, 'modelId'>

/** Encrypts the crop of a face with the key of its subject. */
export function encryptCrop(key: Buffer, binding: CropBinding, jpeg: Buffer): Buffer {
  return encrypt(key, jpeg, cropAssociatedData(binding))
}

/** @throws Error if the ciphertext was changed or is bound to other ids. */
export function decryptCrop(key: Buffer, binding: CropBinding, ciphertext: Uint8Array): Buffer {
  return decrypt(key, ciphertext, cropAssociatedData(binding))
}

/** Begins with the kind, so that a template cannot replace a crop. */
function cropAssociatedData({ accountId, galleryId, subjectId, faceId }: CropBinding): string {
  return ['crop', accountId, galleryId, subjectId, faceId].join('|')
}

type MergeBinding = Pick<SubjectMergeRow, 'mergeId' | 'galleryId' | 'subjectId'> & {
  readonly accountId: string
}

/** What a merge deleted or changed. */
export type MergedState = Pick<
  SubjectRow,
  'projectId' | 'externalId' | 'displayName' | 'attributes' | 'expiresAtUtc'
> & {
  readonly groups: readonly string[]
  /** The groups that the remaining subject received. */
  readonly addedGroups: readonly string[]
  readonly faceIds: readonly string[]
}

/** Encrypts what a merge deletes with the key of the remaining subject. */
export function encryptMerge(key: Buffer, binding: MergeBinding, state: MergedState): Buffer {
  return encrypt(key, Buffer.from(JSON.stringify(state)), associatedData(binding))
}

/** @throws Error if the ciphertext was changed or is bound to other ids. */
export function decryptMerge(key: Buffer, binding: MergeBinding, bytes: Uint8Array): MergedState {
  // Only `encryptMerge` creates a ciphertext with these ids.
  return JSON.parse(decrypt(key, bytes, associatedData(binding)).toString()) as MergedState
}

/** Begins with the kind, so that no other ciphertext of the subject can replace it. */
function associatedData({ accountId, galleryId, subjectId, mergeId }: MergeBinding): string {
  return ['merge', accountId, galleryId, subjectId, mergeId].join('|')
}
