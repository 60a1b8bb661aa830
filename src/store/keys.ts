import { hashApiKey, mintApiKey } from '../lib/api-key.ts'
import { newId } from '../lib/ids.ts'
import type { Database } from './database.ts'

/** What a key says about its bearer. */
export type KeyFacts = {
  readonly keyId: string
  readonly projectId: string
  readonly accountId: string
  /** Action names and the others of the contract's section 6; `*` is all. */
  readonly permissions: readonly string[]
  readonly state: 'active' | 'revoked' | 'expired'
}

export type NewKey = {
  readonly projectId: string
  readonly name: string
  readonly permissions: readonly string[]
  readonly expiresAtUtc: string | null
}

/** Mints a key and stores its hash. The answer is the only place where the key ever stands. */
export async function createKey(
  db: Database,
  key: NewKey,
  now: Date,
): Promise<{ readonly keyId: string; readonly key: string }> {
  const minted = mintApiKey('live')
  const keyId = newId()
  await db
    .insertInto('keys')
    .values({
      ...key,
      keyId,
      prefix: 'fsk_live_',
      last4: minted.slice(-4),
      hash: hashApiKey(minted),
      permissions: JSON.stringify(key.permissions),
      createdAtUtc: now.toISOString(),
    })
    .execute()
  return { keyId, key: minted }
}

/** Looks a key up by its hash. Nothing is cached: a revocation holds for the very next call. */
export async function findKey(db: Database, key: string, now: Date): Promise<KeyFacts | undefined> {
  const row = await db
    .selectFrom('keys')
    .innerJoin('projects', 'projects.projectId', 'keys.projectId')
    .select(['keyId', 'keys.projectId', 'accountId', 'permissions', 'expiresAtUtc', 'revokedAtUtc'])
    .where('hash', '=', hashApiKey(key))
    .executeTakeFirst()
  if (!row) return undefined
  const { keyId, projectId, accountId } = row
  const permissions = parsePermissions(row.permissions)
  const isExpired = row.expiresAtUtc !== null && now.toISOString() >= row.expiresAtUtc
  const state = row.revokedAtUtc !== null ? 'revoked' : isExpired ? 'expired' : 'active'
  return { keyId, projectId, accountId, permissions, state }
}

function parsePermissions(json: string): readonly string[] {
  const list: unknown = JSON.parse(json)
  if (!Array.isArray(list)) throw new TypeError('permissions of a key are not a list')
  return list.map(String)
}
