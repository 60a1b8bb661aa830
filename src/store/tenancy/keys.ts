import type { Selectable } from 'kysely'
import { hashApiKey, generateApiKey } from '../../lib/crypto/api-key.ts'
import { newId } from '../../lib/ids.ts'
import type { Database } from '../database.ts'
import type { KeyRow } from '../schema.ts'
import { switchesFromColumns, type SwitchColumns, type ProjectSwitches } from './switches.ts'

/** What a key says about its bearer. */
export type KeyIdentity = {
  readonly keyId: string
  readonly projectId: string
  readonly accountId: string
  /** The gallery that the project sees: its own, or the one that the account's projects share. */
  readonly galleryId: string
  /** What the project has switched on. */
  readonly switches: ProjectSwitches
  /** Action names and the others of the contract's section 6; `*` is all. */
  readonly permissions: readonly string[]
  readonly state: KeyState
}

export type KeyState = 'active' | 'revoked' | 'expired'

export type NewKey = {
  readonly projectId: string
  readonly name: string
  readonly permissions: readonly string[]
  readonly expiresAtUtc: string | null
}

/** A key as it may be shown: never its text, never its hash. */
export type KeySummary = Omit<Selectable<KeyRow>, 'hash' | 'permissions' | 'isHidden'> & {
  readonly permissions: readonly string[]
  readonly state: KeyState
}

/** Mints a key and stores its hash. The answer is the only place where the key ever stands. */
export async function createKey(
  db: Database,
  key: NewKey,
  now: Date,
): Promise<{ readonly keyId: string; readonly key: string }> {
  const minted = generateApiKey('live')
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

export type FindKey = (apiKey: string, now: Date) => Promise<KeyIdentity | undefined>

/** A key's row with what its project says. */
export type KeyLookupRow = Omit<KeyIdentity, 'permissions' | 'state' | 'switches'> &
  SwitchColumns &
  KeyDates & { readonly permissions: string }

/**
 * Looks keys up by their SHA-256 hash in an index. How near a guess comes to a key says nothing about
 * how near their hashes are, so the time of a look-up tells nothing either.
 */
export function createKeyFinder(
  findByHash: (hash: Uint8Array) => Promise<KeyLookupRow | undefined>,
): FindKey {
  return async (apiKey, now) => {
    const row = await findByHash(hashApiKey(apiKey))
    if (!row) return undefined
    const { keyId, projectId, accountId, galleryId } = row
    const switches = switchesFromColumns(row)
    const permissions = parsePermissions(row.permissions)
    const state = keyState(row, now)
    return { keyId, projectId, accountId, galleryId, switches, permissions, state }
  }
}

type KeyDates = Pick<Selectable<KeyRow>, 'expiresAtUtc' | 'revokedAtUtc'>

/** At its very moment of expiry a key is expired. */
export function keyState({ expiresAtUtc, revokedAtUtc }: KeyDates, now: Date): KeyState {
  if (revokedAtUtc !== null) return 'revoked'
  return expiresAtUtc !== null && now.toISOString() >= expiresAtUtc ? 'expired' : 'active'
}

export function parsePermissions(json: string): readonly string[] {
  const list: unknown = JSON.parse(json)
  if (!Array.isArray(list)) throw new TypeError('permissions of a key are not a list')
  return list.map(String)
}

/** The keys of one project, or of all, oldest first. */
export async function listKeys(
  db: Database,
  projectId: string | undefined,
  now: Date,
): Promise<readonly KeySummary[]> {
  const all = db
    .selectFrom('keys')
    .selectAll()
    .where('isHidden', '=', 0)
    .orderBy('createdAtUtc')
    .orderBy('keyId')
  const query = projectId === undefined ? all : all.where('projectId', '=', projectId)
  const rows = await query.execute()
  return rows.map((row) => keySummaryOf(row, now))
}

/** What may be shown of a key's row. */
export function keySummaryOf(row: Selectable<KeyRow>, now: Date): KeySummary {
  const { hash: _hash, isHidden: _isHidden, ...shown } = row
  return { ...shown, permissions: parsePermissions(row.permissions), state: keyState(row, now) }
}

/** Revokes a key for ever. @returns when it was revoked; undefined if there is no such key. */
export async function revokeKey(
  db: Database,
  keyId: string,
  now: Date,
): Promise<string | undefined> {
  await db
    .updateTable('keys')
    .set({ revokedAtUtc: now.toISOString() })
    .where('keyId', '=', keyId)
    .where('revokedAtUtc', 'is', null)
    .execute()
  const row = await db
    .selectFrom('keys')
    .select('revokedAtUtc')
    .where('keyId', '=', keyId)
    .executeTakeFirst()
  return row?.revokedAtUtc ?? undefined
}
