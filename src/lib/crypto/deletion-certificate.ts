import { createPublicKey, sign, verify, type KeyObject } from 'node:crypto'
import { z } from 'zod'
import { formatUtc } from '../clock.ts'

/** What a certificate states. The signature covers the members in this order. */
const statementSchema = z.strictObject({
  format: z.literal('facegate-deletion-certificate-1'),
  issuedAtUtc: z.string(),
  deletionId: z.uuid(),
  accountId: z.uuid(),
  /** The id of the project or account; of visitors, with `:visitors`. */
  galleryId: z.string().max(64),
  subjectId: z.uuid(),
  /** The subject that received the faces; null: they were deleted. */
  mergedInto: z.uuid().nullable(),
  /** The ids of merged subjects and visitors whose faces were deleted with the subject. */
  formerIds: z.array(z.uuid()),
  externalId: z.string().nullable(),
  groups: z.array(z.string()),
  embeddingCount: z.int().min(0),
  deletedAtUtc: z.string(),
  /** The hash of the record in the chain of the account, in hexadecimal digits. */
  rowHash: z.string().regex(/^[0-9a-f]{64}$/u),
})

export const certificateSchema = z.strictObject({
  statement: statementSchema,
  /** 32 bytes, as the member `x` of a JSON Web Key. */
  publicKey: z.string().regex(/^[\w-]{43}$/u),
  signature: z.string().regex(/^[\w-]{86}$/u),
})

export type DeletionCertificate = z.output<typeof certificateSchema>
type Statement = DeletionCertificate['statement']

/** An Ed25519 key with the text of its public part. */
export type SigningKey = { readonly publicKey: string; readonly privateKey: KeyObject }

/** A record of the deletion ledger: `groups` and `formerIds` are JSON arrays. */
type LedgerRecord = Omit<
  Statement,
  'format' | 'issuedAtUtc' | 'groups' | 'formerIds' | 'rowHash'
> & {
  readonly groups: string
  readonly formerIds: string
  readonly rowHash: Uint8Array
}

/** Signs that a record is in the deletion ledger. */
export function createCertificate(
  row: LedgerRecord,
  { publicKey, privateKey }: SigningKey,
  issuedAtMs: number,
): DeletionCertificate {
  const statement = { ...statementOf(row), issuedAtUtc: formatUtc(issuedAtMs) }
  const signature = sign(null, signedBytes(statement), privateKey).toString('base64url')
  return { statement, publicKey, signature }
}

/** Returns what certificates state about a record, except the time of their issue. */
export function statementOf(row: LedgerRecord): Omit<Statement, 'issuedAtUtc'> {
  return {
    ...row,
    format: 'facegate-deletion-certificate-1',
    // The ledger contains arrays of strings.
    groups: JSON.parse(row.groups) as string[],
    formerIds: JSON.parse(row.formerIds) as string[],
    rowHash: Buffer.from(row.rowHash).toString('hex'),
  }
}

/** Returns whether the holder of the private key signed exactly this statement. */
export function isSigned({ statement, publicKey, signature }: DeletionCertificate): boolean {
  const key = { kty: 'OKP', crv: 'Ed25519', x: publicKey }
  return verify(
    null,
    signedBytes(statement),
    createPublicKey({ key, format: 'jwk' }),
    Buffer.from(signature, 'base64url'),
  )
}

/** The JSON of the statement without spaces, with the members in the order of the schema. */
function signedBytes(statement: Statement): Buffer {
  return Buffer.from(JSON.stringify(statement, Object.keys(statementSchema.shape)))
}
