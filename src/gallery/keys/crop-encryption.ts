import { decrypt, encrypt } from '../../lib/crypto/aes-gcm.ts'
import type { TemplateBinding } from './template-encryption.ts'

/** Whose a crop is. A ciphertext that is moved anywhere else does not open there. */
export type CropBinding = Omit<TemplateBinding, 'modelId'>

/** Encrypts the picture of a face under its subject's key. */
export function encryptCrop(key: Buffer, place: CropBinding, jpeg: Buffer): Buffer {
  return encrypt(key, jpeg, cropAssociatedData(place))
}

/** @throws Error when the ciphertext was changed or is not of this place. */
export function decryptCrop(key: Buffer, place: CropBinding, sealed: Uint8Array): Buffer {
  return decrypt(key, sealed, cropAssociatedData(place))
}

/** Begins with its kind, so that no template can stand in its place. */
function cropAssociatedData({ tenantId, galleryId, subjectId, faceId }: CropBinding): string {
  return ['crop', tenantId, galleryId, subjectId, faceId].join('|')
}
