import type { Generated } from 'kysely'

/** Somebody who may sign in to the console. */
export type UserRow = {
  readonly userId: string
  readonly accountId: string
  readonly name: string
  /** The name in lower case and one normal form (NFKC): two users never differ by that alone. */
  readonly nameKey: string
  readonly role: 'owner' | 'admin' | 'viewer'
  /** Hash, salt and parameters (see `console/password.ts`); null until the invitation is taken. */
  readonly password: string | null
  readonly createdAtUtc: string
  readonly lastSeenAtUtc: string | null
  readonly disabledAtUtc: string | null
}

export type SessionRow = {
  /** SHA-256 of what the cookie holds. */
  readonly tokenHash: Uint8Array
  readonly userId: string
  readonly createdAtMs: number
  readonly lastSeenAtMs: number
}

/** A link that sets a password, once. */
export type LinkRow = {
  readonly tokenHash: Uint8Array
  /** Whose password; null makes an owner. */
  readonly userId: string | null
  readonly expiresAtMs: number
}

/** What somebody did in the console, and its place in the hash chain of the account, for ever. */
export type AdminActRow = {
  readonly auditId: Generated<number>
  readonly accountId: string
  readonly atMs: number
  /** null: the command line. */
  readonly userId: string | null
  readonly userName: string
  readonly act: string
  readonly target: string
  /** A JSON object. */
  readonly detail: string
  readonly ip: string
  /** SHA-256 of the hash before it of the same account, and this row. */
  readonly rowHash: Uint8Array
}

/** The calls of one hour, UTC, that are alike in the four respects. Written with each call. */
export type CallHourRow = {
  /** When the hour begins. */
  readonly hourMs: number
  readonly projectId: string
  readonly keyId: string
  readonly action: string
  readonly code: string
  readonly calls: number
  readonly billed: number
  readonly costMicros: bigint
  /** A histogram, see `lib/latency-histogram.ts`. */
  readonly latencies: Uint8Array
}

/** The scores of one hour, UTC, that fell into one bin. */
export type ScoreHourRow = {
  readonly projectId: string
  readonly kind: 'similarity' | 'liveness'
  readonly hourMs: number
  readonly bin: number
  readonly count: number
  readonly matched: number
}
