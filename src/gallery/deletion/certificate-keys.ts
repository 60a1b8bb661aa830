import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { findCertificateKey, storeCertificateKey } from '../../store/tenancy/certificate-keys.ts'
import type { Tx } from '../../store/database.ts'
import { type Keyring, masterKeyLock } from '../keys/keyring.ts'

const encoding = { format: 'der', type: 'pkcs8' } as const

/** Returns the Ed25519 key with which an account signs certificates. The first use creates it. */
export async function openCertificateKey(tx: Tx, keyring: Keyring, accountId: string) {
  await tx.lock(masterKeyLock, 'shared')
  await tx.lock(`certificate key:${accountId}`, 'exclusive')
  const boundTo = certificateKeyBinding({ accountId })
  const stored = await findCertificateKey(tx, accountId)
  if (stored) {
    const privateKey = createPrivateKey({ key: keyring.unwrap(stored, boundTo), ...encoding })
    return { publicKey: stored.publicKey, privateKey }
  }
  const { publicKey: created, privateKey } = generateKeyPairSync('ed25519')
  const { x: publicKey = '' } = created.export({ format: 'jwk' })
  const wrap = await keyring.wrapIn(tx)
  const wrapped = wrap(privateKey.export(encoding), boundTo)
  await storeCertificateKey(tx, { accountId, publicKey, ...wrapped })
  return { publicKey, privateKey }
}

/** The ids that the ciphertext is bound to. */
export function certificateKeyBinding({ accountId }: { readonly accountId: string }): string {
  return `certificate-key|${accountId}`
}
