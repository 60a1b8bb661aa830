import type { CertificateKeyRow } from '../gallery-schema.ts'
import type { ReadTx, Tx } from '../database.ts'

export function listCertificateKeys(tx: ReadTx): Promise<readonly CertificateKeyRow[]> {
  return tx.run(tx.build.selectFrom('certificateKeys').selectAll())
}

export async function findCertificateKey(tx: ReadTx, accountId: string) {
  const query = tx.build.selectFrom('certificateKeys').selectAll()
  return (await tx.run(query.where('accountId', '=', accountId)))[0]
}

/** Adds the key of an account, or wraps it with another master key. */
export async function storeCertificateKey(tx: Tx, key: CertificateKeyRow): Promise<void> {
  const { masterKeyId, wrapped } = key
  const added = tx.build.insertInto('certificateKeys').values(key)
  await tx.run(
    added.onConflict((on) => on.column('accountId').doUpdateSet({ masterKeyId, wrapped })),
  )
}
