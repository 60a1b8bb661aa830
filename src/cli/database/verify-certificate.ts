import { readFile } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import {
  certificateSchema,
  isSigned,
  statementOf,
  type DeletionCertificate,
} from '../../lib/crypto/deletion-certificate.ts'
import { requireValid } from '../../lib/validation/describe-issue.ts'
import { findCertificateKey } from '../../store/tenancy/certificate-keys.ts'
import { findChainedDeletion } from '../../store/gallery/deletion-chain.ts'
import { findSubject } from '../../store/gallery/subjects.ts'
import type { ReadTx } from '../../store/database.ts'
import { type CommandValues, print } from '../command.ts'
import { withStore } from '../with-store.ts'

type CertificateToVerify = CommandValues<'file', 'key'>

/** @throws Error with the reason if the certificate is not valid. */
export async function verifyCertificate({ file, key, json }: CertificateToVerify): Promise<void> {
  const certificate = await readCertificate(file)
  if (key === undefined)
    await withStore(({ read }) => read((tx) => requireInLedger(tx, certificate)))
  else requireSigned(certificate, key)
  const { subjectId, embeddingCount, deletedAtUtc, deletionId } = certificate.statement
  print({ isInLedger: key === undefined, ...certificate }, json, () =>
    [
      `valid: subject ${subjectId}, templates ${embeddingCount}, deleted ${deletedAtUtc}, record ${deletionId}`,
      key === undefined
        ? 'the ledger contains this record, and the gallery no subject with this id'
        : 'signed with the given key; no ledger was read',
    ].join('\n'),
  )
}

async function readCertificate(file: string): Promise<DeletionCertificate> {
  const text = await readFile(file, 'utf8')
  try {
    return requireValid(certificateSchema, JSON.parse(text), 'certificate')
  } catch (cause) {
    const { message } = cause as Error
    throw new Error(`${file} is not a deletion certificate: ${message}`, { cause })
  }
}

/** @throws Error unless the signature is that of the key. */
function requireSigned(certificate: DeletionCertificate, key: string): void {
  if (certificate.publicKey !== key)
    throw new Error(`the certificate is signed with ${certificate.publicKey}, not with ${key}`)
  if (!isSigned(certificate))
    throw new Error('the signature is wrong: the certificate was changed or forged')
}

/** @throws Error unless the account signed the record, and the subject is deleted. */
async function requireInLedger(tx: ReadTx, certificate: DeletionCertificate): Promise<void> {
  const { accountId, deletionId, galleryId, subjectId, issuedAtUtc } = certificate.statement
  const key = await findCertificateKey(tx, accountId)
  if (!key)
    throw new Error(`the account ${accountId} has no certificate key here; pass --key to verify`)
  requireSigned(certificate, key.publicKey)
  const row = await findChainedDeletion(tx, { accountId, deletionId })
  if (!row) throw new Error(`the ledger has no deletion record ${deletionId}`)
  const recorded: Record<string, unknown> = { ...statementOf(row), issuedAtUtc }
  for (const [name, stated] of Object.entries(certificate.statement))
    if (!isDeepStrictEqual(stated, recorded[name]))
      throw new Error(`${name} of the deletion record ${deletionId} is different in the ledger`)
  if (await findSubject(tx, galleryId, { subjectId }))
    throw new Error(`subject ${subjectId} is enrolled again; run facegate deletions replay`)
}
