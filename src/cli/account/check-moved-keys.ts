import { createDecryptStoredTemplate } from '../../gallery/keys/template-encryption.ts'
import { listWrappedKeys, requireUnwrappable } from '../../gallery/keys/open-keys.ts'
import { createSubjectKeys, openKeyring } from '../../gallery/keys/keyring.ts'
import { selectOrderedTemplates } from '../../store/gallery/templates.ts'
import type { QueryRunner } from '../../store/postgres/connection/kysely-driver.ts'
import { postgresReadTx } from '../../store/postgres/tx.ts'

const templatesMax = 200

/**
 * Unwraps every key that is visible to a transaction, and decrypts some of the templates.
 *
 * @returns the number of decrypted templates.
 * @throws Error if the file does not contain a master key, or no template can be decrypted.
 */
export async function checkKeys(on: QueryRunner, masterKeyFile: string): Promise<number> {
  const tx = postgresReadTx(on)
  const keys = await listWrappedKeys({ read: async (job) => job(tx) })
  if (keys.galleryKeys.length + keys.secrets.length === 0) return 0
  const keyring = openKeyring(masterKeyFile)
  requireUnwrappable(keyring, keys)
  const subjectKeys = createSubjectKeys(keyring, Date.now)
  const decrypt = createDecryptStoredTemplate(subjectKeys, { error: () => undefined })
  const rows = await tx.run(selectOrderedTemplates(tx).limit(templatesMax))
  let decrypted = 0
  for (const row of rows) {
    const template = await decrypt(tx, row)
    template?.vector.fill(0)
    if (template) decrypted++
  }
  if (rows.length > 0 && decrypted === 0)
    throw new Error(`${masterKeyFile} decrypts none of ${rows.length} templates`)
  return decrypted
}
