import type { Selectable } from 'kysely'
import { hashApiKey, generateApiKey } from '../../lib/crypto/api-key.ts'
import { newId } from '../../lib/ids.ts'
import type { Database, KeyRow } from '../schema.ts'
import { switchesFromColumns, type SwitchColumns, type ProjectSwitches } from './switches.ts'

/** The caller that an API key identifies. */
export type KeyIdentity = {
  readonly keyId: string
  readonly projectId: string
  readonly accountId: string
  /** The gallery of the project: a separate one, or the one that the account's projects share. */
  readonly galleryId: string
  readonly switches: ProjectSwitches
  /** The number of the project's webhooks that receive events about faces. */
  readonly matchWebhooks: number
  /** 1: the account is moved to another database, and calls must be sent again. */
  readonly isFrozen: 0 | 1
  /** Action names and the other permissions of section 6 of the contract; `*` is all. */
  readonly permissions: readonly string[]
  readonly state: CredentialState
  /** Present if the caller sent the secret before the last rotation of the key. */
  readonly formerSecret?: FormerSecret | undefined
  /** Changes with the key and with its project, where the database has such a version. */
  readonly version?: string | undefined
  /**
   * Reads the identity again: it was remembered, or the body of the call arrived long after it was
   * read. Absent for callers without a secret.
   */
  readonly refresh?: ((now: Date) => Promise<KeyIdentity | undefined>) | undefined
}

export type KeyState = 'active' | 'revoked' | 'expired'

/** `replaced`: the secret of an active key was rotated, and its overlap has ended. */
export type CredentialState = KeyState | 'replaced'

/** The secret of a key before its last rotation. */
type FormerSecret = { readonly endsAtUtc: string; readonly lastUsedAtUtc: string | null }

export type NewKey = {
  readonly projectId: string
  readonly name: string
  readonly permissions: readonly string[]
  readonly expiresAtUtc: string | null
}

type InternalKeyColumn =
  | 'hash'
  | 'formerHash'
  | 'isHidden'
  | 'expiryNoticeDays'
  | 'cameraChangesAtMs'
  | 'cameraChanges'

/** The public fields of a key, without its text and hash. */
export type KeySummary = Omit<Selectable<KeyRow>, 'permissions' | InternalKeyColumn> & {
  readonly permissions: readonly string[]
  readonly state: KeyState
  readonly projectName: string
}

/** Creates a key and stores its hash. The key's text exists only in the return value. */
export async function createKey(
  db: Database,
  key: NewKey & Partial<Pick<Selectable<KeyRow>, 'last4' | 'isHidden'>>,
  now: Date,
): Promise<{ readonly keyId: string; readonly key: string }> {
  const apiKey = generateApiKey('live')
  const keyId = newId()
  await db
    .insertInto('keys')
    .values({
      last4: apiKey.slice(-4),
      ...key,
      keyId,
      prefix: 'fsk_live_',
      hash: hashApiKey(apiKey),
      permissions: JSON.stringify(key.permissions),
      createdAtUtc: now.toISOString(),
    })
    .execute()
  return { keyId, key: apiKey }
}

export type FindKey = (apiKey: string, now: Date) => Promise<KeyIdentity | undefined>

/** The columns of a key and of its project. */
export type KeyLookupRow = Omit<
  KeyIdentity,
  'permissions' | 'state' | 'switches' | 'formerSecret' | 'refresh'
> &
  SwitchColumns &
  KeyDates &
  Pick<Selectable<KeyRow>, 'permissions' | 'formerEndsAtUtc' | 'formerLastUsedAtUtc'> & {
    /** Whether the hash is that of the former secret. */
    readonly isFormer: boolean | 0 | 1
  }

/** Returns the caller of a key at a time. */
export function identityOf(row: KeyLookupRow, now: Date): KeyIdentity {
  const { keyId, projectId, accountId, galleryId, matchWebhooks, isFrozen, version } = row
  const switches = switchesFromColumns(row)
  const permissions = parsePermissions(row.permissions)
  const formerSecret = formerSecretOf(row)
  const hasEnded = formerSecret !== undefined && hasFormerSecretEnded(formerSecret.endsAtUtc, now)
  const ofKey = keyState(row, now)
  const state: CredentialState = ofKey === 'active' && hasEnded ? 'replaced' : ofKey
  const ids = { keyId, projectId, accountId, galleryId }
  const identity = { ...ids, switches, matchWebhooks, isFrozen, permissions, state }
  return {
    ...identity,
    ...(formerSecret && { formerSecret }),
    ...(version !== undefined && { version }),
  }
}

function formerSecretOf(row: KeyLookupRow): FormerSecret | undefined {
  const { isFormer, formerEndsAtUtc, formerLastUsedAtUtc: lastUsedAtUtc } = row
  if (!isFormer || formerEndsAtUtc === null) return undefined
  return { endsAtUtc: formerEndsAtUtc, lastUsedAtUtc }
}

/** A former secret is valid until, but not in, the millisecond of its end. */
export function hasFormerSecretEnded(endsAtUtc: string, now: Date): boolean {
  return now.toISOString() >= endsAtUtc
}

type KeyDates = Pick<Selectable<KeyRow>, 'expiresAtUtc' | 'revokedAtUtc'>

/** Returns a key's state. A key is expired from its expiry time on, inclusive. */
export function keyState({ expiresAtUtc, revokedAtUtc }: KeyDates, now: Date): KeyState {
  if (revokedAtUtc !== null) return 'revoked'
  return expiresAtUtc !== null && now.getTime() >= Date.parse(expiresAtUtc) ? 'expired' : 'active'
}

export function parsePermissions(json: string): readonly string[] {
  const list: unknown = JSON.parse(json)
  if (!Array.isArray(list)) throw new TypeError('the permissions of a key must be a JSON array')
  return list.map(String)
}

/** Lists the keys of one project, or of all projects that are not deleted, the oldest first. */
export async function listKeys(db: Database, projectId: string | undefined, now: Date) {
  const all = db
    .selectFrom('keys')
    .innerJoin('projects', 'projects.projectId', 'keys.projectId')
    .selectAll('keys')
    .select('projects.name as projectName')
    .where('isHidden', '=', 0)
    .where('deletedAtUtc', 'is', null)
    .orderBy('keys.createdAtUtc')
    .orderBy('keyId')
  const query = projectId === undefined ? all : all.where('keys.projectId', '=', projectId)
  const rows = await query.execute()
  return rows.map((row) => keySummaryOf(row, now))
}

export function keySummaryOf(
  row: Selectable<KeyRow> & Pick<KeySummary, 'projectName'>,
  now: Date,
): KeySummary {
  const { hash: _hash, formerHash: _former, isHidden: _isHidden, ...rest } = row
  const { expiryNoticeDays: _notice, cameraChangesAtMs: _at, cameraChanges: _all, ...fields } = rest
  return { ...fields, permissions: parsePermissions(row.permissions), state: keyState(row, now) }
}

/** Finds the account and the project of a key. */
export function findKeyOwner(db: Database, keyId: string) {
  return db
    .selectFrom('keys')
    .innerJoin('projects', 'projects.projectId', 'keys.projectId')
    .select(['keys.name', 'keys.projectId', 'projects.accountId'])
    .where('keyId', '=', keyId)
    .executeTakeFirst()
}

/** Revokes a key permanently. @returns the time of revocation; undefined if the key is unknown. */
export async function revokeKey(db: Database, keyId: string, now: Date) {
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

/** The most keys that a process remembers. The one that was read first is replaced. */
const keysMax = 10_000

/**
 * Returns a function that reads a key, and one that first searches the keys that were read before. The
 * second one saves a round trip of each call. Its result may be outdated: the admission compares
 * the version of the key. Only hashes are remembered, and only keys that are valid now are returned.
 */
export function createKeyFinders(readKey: (hash: Uint8Array) => Promise<KeyLookupRow | undefined>) {
  const remembered = new Map<string, RememberedKey>()
  // Similar keys have unrelated hashes, so the duration of a lookup in an index reveals nothing.
  const findKey: FindKey = async (apiKey, now) => {
    const hash = hashApiKey(apiKey)
    const row = await readKey(hash)
    const name = nameOf(hash)
    remembered.delete(name)
    // The use of a former secret is recorded by another statement than the admission. The calls of a
    // frozen project are rejected before the admission, which would find that it is no longer frozen.
    if (row && !row.isFormer && row.isFrozen === 0) {
      const [first] = remembered.size >= keysMax ? remembered.keys() : []
      if (first !== undefined) remembered.delete(first)
      remembered.set(name, { row, identity: identityOf(row, new Date(0)) })
    }
    return row && { ...identityOf(row, now), refresh: (later) => findKey(apiKey, later) }
  }
  const findRememberedKey: FindKey = async (apiKey, now) => {
    const found = remembered.get(nameOf(hashApiKey(apiKey)))
    if (!found || keyState(found.row, now) !== 'active') return findKey(apiKey, now)
    return { ...found.identity, state: 'active', refresh: (later) => findKey(apiKey, later) }
  }
  return { findKey, findRememberedKey }
}

/** A key with the current secret. Only the state of its identity depends on the time. */
type RememberedKey = { readonly row: KeyLookupRow; readonly identity: KeyIdentity }

function nameOf(hash: Uint8Array): string {
  return Buffer.from(hash).toString('latin1')
}
