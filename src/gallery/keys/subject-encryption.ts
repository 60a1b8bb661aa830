import { decrypt, encrypt } from '../../lib/crypto/aes-gcm.ts'
import type { Tx } from '../../store/database.ts'
import type { SubjectMergeRow, SubjectRow } from '../../store/gallery-schema.ts'
import {
  findSubjectCrops,
  replaceCropCiphertext,
  replaceSubjectKey,
  replaceTemplateCiphertext,
} from '../../store/gallery/crops.ts'
import { findMergesOfSubject, updateMerge } from '../../store/gallery/duplicates/subject-merges.ts'
import type { MatchDay } from '../../store/gallery/feedback/match-days.ts'
import {
  findMatchTemplates,
  replaceVerdictCiphertext,
} from '../../store/gallery/feedback/match-verdicts.ts'
import { type StoredTemplate, findSubjectTemplates } from '../../store/gallery/templates.ts'
import type { SubjectKeys } from './keyring.ts'
import { type TemplateBinding, decryptTemplate, encryptTemplate } from './template-encryption.ts'

/** A subject with the account of its gallery. */
type SubjectToRenew = SubjectRow & { readonly accountId: string }

/**
 * Encrypts the templates, crops, merges, matches and near misses of a subject with a new key, and
 * destroys its old key. Data that was deleted before can then no longer be decrypted with a key of the database. Must be
 * called with the gallery locked in exclusive mode.
 *
 * A ciphertext that was changed or moved stays as it is: it could not be decrypted before either.
 *
 * @returns the number of such ciphertexts.
 * @throws Error if the key of the subject cannot be unwrapped.
 */
export async function renewSubjectKey(tx: Tx, subject: SubjectToRenew, keys: SubjectKeys) {
  const { subjectId, galleryId, accountId } = subject
  const oldKey = await keys.unwrap(tx, subject)
  const { key, ...wrapped } = await keys.create(tx, subject)
  const ids = { accountId, galleryId, from: subjectId, to: subjectId }
  const matches = await findMatchTemplates(tx, subjectId)
  let unreadable = await encryptAgain(tx, { ...ids, oldKey, newKey: key, matches })
  for (const { mergeId, ciphertext } of await findMergesOfSubject(tx, subjectId)) {
    const binding = { accountId, galleryId, subjectId, mergeId }
    const state = decrypted(() => decryptMerge(oldKey, binding, ciphertext))
    if (!state) unreadable += 1
    else await updateMerge(tx, mergeId, { ciphertext: encryptMerge(key, binding, state) })
  }
  await replaceSubjectKey(tx, subjectId, wrapped)
  return unreadable
}

type SubjectKeyChange = {
  readonly accountId: string
  readonly galleryId: string
  /** The subject that the data is bound to, and the one to bind it to. */
  readonly from: string
  readonly to: string
  readonly oldKey: Buffer
  readonly newKey: Buffer
  readonly matches: Awaited<ReturnType<typeof findMatchTemplates>>
  /** The faces, and the matches by their ids; by default all. */
  readonly faceIds?: readonly string[] | undefined
}

/** Encrypts templates, crops and matches with another key. @returns the number of unreadable ones. */
async function encryptAgain(
  tx: Tx,
  { accountId, galleryId, from, to, oldKey, newKey, matches, faceIds }: SubjectKeyChange,
): Promise<number> {
  let unreadable = 0
  const isChanged = ({ faceId }: { faceId: string }) => faceIds?.includes(faceId) ?? true
  const stored: readonly (StoredTemplate & { readonly verdict?: unknown })[] =
    await findSubjectTemplates(tx, [from])
  for (const row of [...stored, ...matches].filter(isChanged)) {
    const { faceId, modelId } = row
    const binding = { accountId, galleryId, faceId, modelId }
    const template = decrypted(() =>
      decryptTemplate(oldKey, { ...binding, subjectId: from }, row.ciphertext),
    )
    if (!template) unreadable += 1
    else {
      const ciphertext = encryptTemplate(newKey, { ...binding, subjectId: to }, template)
      template.vector.fill(0)
      if ('verdict' in row) await replaceVerdictCiphertext(tx, { verdictId: faceId, ciphertext })
      else await replaceTemplateCiphertext(tx, { galleryId, faceId, modelId, ciphertext })
    }
  }
  for (const crop of (await findSubjectCrops(tx, from)).filter(isChanged)) {
    const { faceId, ciphertext } = crop
    const binding = { accountId, galleryId, faceId }
    const jpeg = decrypted(() => decryptCrop(oldKey, { ...binding, subjectId: from }, ciphertext))
    if (!jpeg) unreadable += 1
    else {
      const replacement = encryptCrop(newKey, { ...binding, subjectId: to }, jpeg)
      await replaceCropCiphertext(tx, { ...crop, ciphertext: replacement })
      jpeg.fill(0)
    }
  }
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

type Reencryption = Pick<SubjectKeyChange, 'accountId' | 'faceIds'> & {
  readonly source: SubjectRow
  readonly target: SubjectRow
  readonly keys: SubjectKeys
}

/**
 * Encrypts templates, crops and denied matches of a subject with the key of another one and binds them
 * to its id. A ciphertext that was changed or moved stays as it is: it could not be decrypted before
 * either.
 *
 * @throws Error if a key cannot be unwrapped.
 */
export async function encryptForSubject(
  tx: Tx,
  { source, target, faceIds, accountId, keys }: Reencryption,
): Promise<void> {
  const { galleryId, subjectId: to } = target
  const [oldKey, newKey] = [await keys.unwrap(tx, source), await keys.unwrap(tx, target)]
  const from = source.subjectId
  const matches = await findMatchTemplates(tx, from, 'denied')
  await encryptAgain(tx, { accountId, galleryId, from, to, oldKey, newKey, matches, faceIds })
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
  /** Its id, and the ids of the subjects whose faces it had received. */
  readonly formerIds: readonly string[]
  readonly faceIds: readonly string[]
  readonly matchDays: readonly MatchDay[]
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
