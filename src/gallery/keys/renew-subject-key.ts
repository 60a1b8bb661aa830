import {
  findSubjectCrops,
  replaceCropCiphertext,
  replaceTemplateCiphertext,
  replaceSubjectKey,
} from '../../store/gallery/key-renewals.ts'
import { findSubjectTemplates } from '../../store/gallery/templates.ts'
import {
  findMergesOfSubject,
  replaceMergeCiphertext,
} from '../../store/gallery/duplicates/subject-merges.ts'
import type { SubjectRow } from '../../store/gallery-schema.ts'
import type { Tx } from '../../store/database.ts'
import { decryptCrop, encryptCrop } from './crop-encryption.ts'
import { decryptMerge, encryptMerge } from './merge-encryption.ts'
import type { SubjectKeys } from './keyring.ts'
import { decryptTemplate, encryptTemplate } from './template-encryption.ts'

/** A subject with the account of its gallery. */
export type SubjectToRenew = SubjectRow & { readonly accountId: string }

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
export function decrypted<T>(decrypt: () => T): T | undefined {
  try {
    return decrypt()
  } catch {
    return undefined
  }
}
