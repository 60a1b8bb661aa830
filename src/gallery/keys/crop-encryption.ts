import { decrypt, encrypt } from '../../lib/crypto/aes-gcm.ts'
import type { TemplateBinding } from './template-encryption.ts'

/** The ids that a crop is bound to. A ciphertext cannot be decrypted with other ids. */
export type CropBinding = Omit<TemplateBinding, 'modelId'>

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
