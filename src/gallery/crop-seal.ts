import { decrypt, encrypt } from '../lib/aes-gcm.ts'
import type { TemplatePlace } from './template-seal.ts'

/** Whose a crop is. A ciphertext that is moved anywhere else does not open there. */
export type CropPlace = Omit<TemplatePlace, 'modelId'>

/** Encrypts the picture of a face under its subject's key. */
export function sealCrop(key: Buffer, place: CropPlace, jpeg: Buffer): Buffer {
  return encrypt(key, jpeg, boundTo(place))
}

/** @throws Error when the ciphertext was changed or is not of this place. */
export function openCrop(key: Buffer, place: CropPlace, sealed: Uint8Array): Buffer {
  return decrypt(key, sealed, boundTo(place))
}

/** Begins with its kind, so that no template can stand in its place. */
function boundTo({ tenantId, galleryId, subjectId, faceId }: CropPlace): string {
  return ['crop', tenantId, galleryId, subjectId, faceId].join('|')
}
