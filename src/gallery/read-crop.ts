import type { Log } from '../lib/log.ts'
import { findSubjectCrop } from '../store/gallery/crops.ts'
import { findGallery } from '../store/gallery/galleries.ts'
import type { SubjectRow } from '../store/gallery-schema.ts'
import type { ReadTx } from '../store/database.ts'
import { decryptCrop } from './keys/subject-encryption.ts'
import type { SubjectKeys } from './keys/keyring.ts'

/**
 * Decrypts the stored crop of a face: a square JPEG with the face in its centre. Undefined if the
 * subject has no such face, or the face no crop that can be decrypted. Only projects that store crops
 * have any.
 */
export type ReadCrop = (
  reading: ReadTx,
  subject: SubjectRow,
  faceId: string,
) => Promise<Buffer | undefined>

type ReadCropOptions = {
  readonly keys: Pick<SubjectKeys, 'unwrap'>
  readonly log: Pick<Log, 'error'>
}

export function createReadCrop({ keys, log }: ReadCropOptions): ReadCrop {
  return async (reading, subject, faceId) => {
    const { subjectId, galleryId } = subject
    const crop = await findSubjectCrop(reading, { subjectId, faceId })
    if (!crop) return undefined
    const accountId = (await findGallery(reading, galleryId))?.accountId ?? ''
    const binding = { accountId, galleryId, subjectId, faceId }
    const key = await keys.unwrap(reading, subject)
    try {
      return decryptCrop(key, binding, crop.ciphertext)
    } catch (error) {
      const alert = { alert: 'crop-tampered', galleryId, subjectId, faceId }
      log.error({ ...alert, err: error }, 'a stored crop cannot be decrypted; it is not shown')
      return undefined
    }
  }
}
