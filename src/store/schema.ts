import type { Generated } from 'kysely'

/** The tables as TypeScript sees them. Times are ISO 8601 UTC text; ids are UUIDs. */
export type Schema = {
  accounts: AccountRow
  projects: ProjectRow
  keys: KeyRow
}

export type AccountRow = {
  readonly accountId: string
  readonly name: string
  readonly createdAtUtc: string
}

export type ProjectRow = {
  readonly projectId: string
  readonly accountId: string
  readonly name: string
  readonly galleryMode: 'isolated' | 'shared'
  readonly createdAtUtc: string
}

export type KeyRow = {
  readonly keyId: string
  readonly projectId: string
  readonly name: string
  /** `fsk_live_` or `fsk_test_`. */
  readonly prefix: string
  readonly last4: string
  /** SHA-256 of the key, 32 bytes. */
  readonly hash: Uint8Array
  /** JSON array of permissions; `["*"]` is all. */
  readonly permissions: string
  readonly createdAtUtc: string
  readonly expiresAtUtc: string | null
  readonly revokedAtUtc: Generated<string | null>
  readonly lastUsedAtUtc: Generated<string | null>
}
