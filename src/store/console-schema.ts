import type { Generated } from 'kysely'

/** A person with access to the console. */
export type UserRow = {
  readonly userId: string
  readonly accountId: string
  readonly name: string
  /** The name in lower case and Unicode normal form NFKC, unique among all users. */
  readonly nameKey: string
  readonly role: 'owner' | 'admin' | 'viewer'
  /** Hash, salt and parameters, see `console/auth/password-hasher.ts`; null until the invitation is accepted. */
  readonly password: string | null
  readonly createdAtUtc: string
  readonly lastSeenAtUtc: string | null
  readonly disabledAtUtc: string | null
}

export type SessionRow = {
  /** SHA-256 of the cookie's token. */
  readonly tokenHash: Uint8Array
  readonly userId: string
  readonly createdAtMs: number
  readonly lastSeenAtMs: number
  /** The address and the browser at sign-in. */
  readonly ip: string
  readonly userAgent: string
}

/** The secret of a user's authenticator app, wrapped with a master key. */
export type SecondFactorRow = {
  readonly userId: string
  readonly masterKeyId: string
  readonly wrapped: Uint8Array
  /** 0: sign-in does not require it until the user has entered a first code. */
  readonly isConfirmed: Generated<0 | 1>
  /** The time step of the last accepted code. A code is accepted once. */
  readonly lastStep: Generated<number>
}

/** A code that replaces the authenticator app once. */
export type RecoveryCodeRow = {
  readonly userId: string
  /** SHA-256 of the code. */
  readonly codeHash: Uint8Array
}

/** A one-time link that sets a password. */
export type LinkRow = {
  readonly tokenHash: Uint8Array
  /** The user of the password; null: the link creates an owner. */
  readonly userId: string | null
  /** The owner who created it in the console; null: the command line or the first start. */
  readonly creatorId: string | null
  readonly expiresAtMs: number
}

/** A permanent entry of the audit log and its place in the account's hash chain. */
export type AuditLogRow = {
  readonly auditId: Generated<number>
  readonly accountId: string
  readonly atMs: number
  /** null: the command line. */
  readonly userId: string | null
  readonly userName: string
  readonly auditAction: string
  readonly target: string
  /** A JSON object. */
  readonly detail: string
  readonly ip: string
  /** SHA-256 of the account's previous hash and this row. */
  readonly rowHash: Uint8Array
}

/** The calls of one hour (UTC) with the same project, key, action and code. Updated by each call. */
export type CallHourRow = {
  /** The start of the hour. */
  readonly hourMs: number
  readonly projectId: string
  readonly keyId: string
  readonly action: string
  readonly code: string
  /** Empty without one. */
  readonly outcome: Generated<string>
  readonly calls: number
  readonly billed: number
  readonly costMicros: bigint
  /** The prices of calls that were not charged, because the project's billing was off. */
  readonly meteredMicros: Generated<bigint>
  readonly nearMisses: Generated<number>
  /** In ten-thousandths, so that sums are exact in any order. */
  readonly similaritySum: Generated<number>
  /** The calls with a quality, and the sum of their qualities in full points. */
  readonly rated: Generated<number>
  readonly qualitySum: Generated<number>
  /** A histogram, see `lib/observability/latency-histogram.ts`. */
  readonly latencies: Uint8Array
}

/** The scores of one hour (UTC) in one bin. */
export type ScoreHourRow = {
  readonly projectId: string
  readonly kind: 'similarity' | 'liveness'
  readonly hourMs: number
  readonly bin: number
  readonly count: number
  readonly matched: number
}
