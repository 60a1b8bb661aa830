import {
  findSubjectCrops,
  replaceCropCiphertext,
  replaceTemplateCiphertext,
} from '../../store/gallery/key-renewals.ts'
import { findSubjectTemplates } from '../../store/gallery/templates.ts'
import type { SubjectRow } from '../../store/gallery-schema.ts'
import type { Tx } from '../../store/database.ts'
import { decryptCrop, encryptCrop } from './crop-encryption.ts'
import { decrypted } from './renew-subject-key.ts'
import type { SubjectKeys } from './keyring.ts'
import { decryptTemplate, encryptTemplate } from './template-encryption.ts'

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
