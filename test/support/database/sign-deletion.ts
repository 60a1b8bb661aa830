import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { openCertificateKey } from '../../../src/gallery/deletion/certificate-keys.ts'
import { openKeyring } from '../../../src/gallery/keys/keyring.ts'
import { createCertificate } from '../../../src/lib/crypto/deletion-certificate.ts'
import type { Store } from '../../../src/store/database.ts'
import { findChainedDeletion } from '../../../src/store/gallery/deletion-chain.ts'

type RecordToSign = {
  readonly store: Pick<Store, 'write'>
  readonly dataDir: string
  readonly deletionId: string
  readonly accountId: string
}

/** Signs the certificate of a deletion, and writes it to a file. */
export async function signDeletion(file: string, record: RecordToSign): Promise<void> {
  const keyring = openKeyring(path.join(record.dataDir, 'master.key'))
  const certificate = await record.store.write(async (tx) => {
    const row = await findChainedDeletion(tx, record)
    assert.ok(row)
    return createCertificate(row, await openCertificateKey(tx, keyring, row.accountId), 0)
  })
  await writeFile(file, JSON.stringify(certificate))
}
