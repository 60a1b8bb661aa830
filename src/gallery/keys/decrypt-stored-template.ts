import type { Log } from '../../lib/log.ts'
import { findGallery } from '../../store/gallery/galleries.ts'
import type { StoredTemplate } from '../../store/gallery/templates.ts'
import type { ReadTx } from '../../store/tx.ts'
import type { Template } from '../../vision/image-analysis.ts'
import type { SubjectKeys } from './subject-keys.ts'
import { decryptTemplate } from './template-encryption.ts'

/** Opens a stored template; undefined when it is not what was stored there. */
export type DecryptStoredTemplate = (
  reading: ReadTx,
  row: StoredTemplate,
) => Promise<Template | undefined>

/** A template that does not open was tampered with: an alert, and it matches nobody. */
export function createDecryptStoredTemplate(
  keys: SubjectKeys,
  log: Pick<Log, 'error'>,
): DecryptStoredTemplate {
  /** Gallery → its account, which never changes: a search opens dozens of templates. */
  const tenants = new Map<string, string>()
  const tenantOf = async (reading: ReadTx, galleryId: string): Promise<string> => {
    const known = tenants.get(galleryId)
    if (known !== undefined) return known
    const tenantId = (await findGallery(reading, galleryId))?.accountId ?? ''
    if (tenantId) tenants.set(galleryId, tenantId)
    return tenantId
  }
  return async (reading, row) => {
    const { galleryId, subjectId, faceId } = row
    try {
      const tenantId = await tenantOf(reading, galleryId)
      return decryptTemplate(await keys.unwrap(reading, row), { ...row, tenantId }, row.sealed)
    } catch (error) {
      const where = { alert: 'template-tampered', galleryId, subjectId, faceId }
      log.error({ ...where, err: error }, 'a stored template does not open; it matches nobody')
      return undefined
    }
  }
}
