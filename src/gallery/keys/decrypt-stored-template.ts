import type { Log } from '../../lib/log.ts'
import { findGallery } from '../../store/gallery/galleries.ts'
import type { StoredTemplate } from '../../store/gallery/templates.ts'
import type { ReadTx } from '../../store/tx.ts'
import type { Template } from '../../vision/embed/template.ts'
import type { SubjectKeys } from './subject-keys.ts'
import { decryptTemplate } from './template-encryption.ts'

/** Decrypts a stored template. Returns undefined if its ciphertext was changed or moved. */
export type DecryptStoredTemplate = (
  reading: ReadTx,
  row: StoredTemplate,
) => Promise<Template | undefined>

/** Decrypts stored templates in one step, in their order. */
export type DecryptStoredTemplates = (
  reading: ReadTx,
  rows: readonly StoredTemplate[],
) => Promise<readonly (Template | undefined)[]>

/** The function logs an alert for each template that cannot be decrypted. */
export function createDecryptStoredTemplate(
  keys: SubjectKeys,
  log: Pick<Log, 'error'>,
): DecryptStoredTemplate {
  const findAccountId = createFindAccountId()
  return async (reading, row) => {
    const { galleryId, subjectId, faceId } = row
    try {
      const accountId = await findAccountId(reading, galleryId)
      return decryptWith(await keys.unwrap(reading, row), row, accountId)
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

/** Does the same for many templates, whose keys it unwraps together. */
export function createDecryptStoredTemplates(
  keys: SubjectKeys,
  log: Pick<Log, 'error'>,
): DecryptStoredTemplates {
  const findAccountId = createFindAccountId()
  const decryptStored = createDecryptStoredTemplate(keys, log)
  return async (reading, rows) => {
    const unwrapped = await keys.unwrapMany(reading, rows)
    const templates: (Template | undefined)[] = []
    for (const [index, row] of rows.entries()) {
      const key = unwrapped[index]
      const accountId = await findAccountId(reading, row.galleryId)
      // The slower function repeats a decryption that failed, to log the reason.
      const template =
        (key && tryDecrypt(key, row, accountId)) ?? (await decryptStored(reading, row))
      templates.push(template)
    }
    return templates
  }
}

function tryDecrypt(key: Buffer, row: StoredTemplate, accountId: string): Template | undefined {
  try {
    return decryptWith(key, row, accountId)
  } catch {
    return undefined
  }
}

/** Decrypts a template and zeroes its key. */
function decryptWith(key: Buffer, row: StoredTemplate, accountId: string): Template {
  const { galleryId, subjectId, faceId, modelId, sealed } = row
  try {
    return decryptTemplate(key, { galleryId, subjectId, faceId, modelId, accountId }, sealed)
  } finally {
    key.fill(0)
  }
}

/** Gallery → its account, which never changes. Cached, because a search decrypts many templates. */
function createFindAccountId() {
  const accountIds = new Map<string, string>()
  return async (reading: ReadTx, galleryId: string): Promise<string> => {
    const cached = accountIds.get(galleryId)
    if (cached !== undefined) return cached
    const accountId = (await findGallery(reading, galleryId))?.accountId ?? ''
    if (accountId) accountIds.set(galleryId, accountId)
    return accountId
  }
}
