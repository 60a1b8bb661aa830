import type { Log } from '../../lib/log.ts'
import { findGallery } from '../../store/gallery/galleries.ts'
import type { StoredTemplate } from '../../store/gallery/templates.ts'
import type { ReadTx } from '../../store/database.ts'
import type { Template } from '../../vision/embed/template.ts'
import type { SubjectKeys } from './keyring.ts'
import { decryptTemplate } from './template-encryption.ts'

/** Decrypts a stored template. Returns undefined if its ciphertext was changed or moved. */
export type DecryptStoredTemplate = (
  reading: ReadTx,
  row: StoredTemplate,
) => Promise<Template | undefined>

/** The function logs an alert for each template that cannot be decrypted. */
export function createDecryptStoredTemplate(
  keys: SubjectKeys,
  log: Pick<Log, 'error'>,
): DecryptStoredTemplate {
  /** Gallery → its account, which never changes. Cached, because a search decrypts many templates. */
  const accountIds = new Map<string, string>()
  const findAccountId = async (reading: ReadTx, galleryId: string): Promise<string> => {
    const cached = accountIds.get(galleryId)
    if (cached !== undefined) return cached
    const accountId = (await findGallery(reading, galleryId))?.accountId ?? ''
    if (accountId) accountIds.set(galleryId, accountId)
    return accountId
  }
  return async (reading, row) => {
    const { galleryId, subjectId, faceId, modelId } = row
    try {
      const accountId = await findAccountId(reading, galleryId)
      const key = await keys.unwrap(reading, row)
      try {
        return decryptTemplate(
          key,
          { galleryId, subjectId, faceId, modelId, accountId },
          row.ciphertext,
        )
      } finally {
        key.fill(0)
      }
    } catch (error) {
      const alert = { alert: 'template-tampered', galleryId, subjectId, faceId }
      log.error(
        { ...alert, err: error },
        'a stored template cannot be decrypted; it is not matched',
      )
      return undefined
    }
  }
}
