import type { Updateable } from 'kysely'
import { generateApiKey, hashApiKey } from '../../lib/crypto/api-key.ts'
import type { Database, KeyRow } from '../schema.ts'
import type { Tx } from '../database.ts'
import { keyState, type KeyState, type NewKey } from './keys.ts'

export type KeyRotation = {
  readonly keyId: string
  /** How long the former secret stays valid; 0: it ends at once. */
  readonly overlapMs: number
}

/** `key`: the new secret. It exists only in this value. */
export type RotationResult =
  | { readonly state: 'active'; readonly key: string; readonly formerEndsAtUtc: string }
  | { readonly state: Exclude<KeyState, 'active'> | 'unknown' }

/**
 * Gives a key a new secret. The key keeps its id, permissions, expiry and history. A secret before the
 * former one ends at once, so that a key never has more than two valid secrets.
 *
 * @returns the state of the key if it is not active; then nothing was changed.
 */
export async function rotateKey(
  db: Database,
  { keyId, overlapMs }: KeyRotation,
  now: Date,
): Promise<RotationResult> {
  const row = await db
    .selectFrom('keys')
    .select(['prefix', 'last4', 'hash', 'expiresAtUtc', 'revokedAtUtc'])
    .where('keyId', '=', keyId)
    .where('isHidden', '=', 0)
    .executeTakeFirst()
  if (!row) return { state: 'unknown' }
  const state = keyState(row, now)
  if (state !== 'active') return { state }
  const key = generateApiKey(row.prefix === 'fsk_test_' ? 'test' : 'live')
  const formerEndsAtUtc = new Date(now.getTime() + overlapMs).toISOString()
  await db
    .updateTable('keys')
    .set({
      hash: hashApiKey(key),
      last4: key.slice(-4),
      rotatedAtUtc: now.toISOString(),
      formerHash: row.hash,
      formerLast4: row.last4,
      formerEndsAtUtc,
      formerLastUsedAtUtc: null,
    })
    .where('keyId', '=', keyId)
    .execute()
  return { state, key, formerEndsAtUtc }
}

/** Ends the validity of a key's former secret. */
export async function endFormerSecret(tx: Tx, keyId: string, atUtc: string): Promise<void> {
  const query = tx.build
    .updateTable('keys')
    .set({ formerEndsAtUtc: atUtc })
    .where('keyId', '=', keyId)
    .where('formerEndsAtUtc', '>', atUtc)
  await tx.run(query)
}

/** Absent fields do not change. */
export type KeyChange = Partial<Omit<NewKey, 'projectId'>>

/** Changes a key. The gate reads keys at each call, so the change applies to the next call. */
export async function updateKey(tx: Tx, keyId: string, change: KeyChange): Promise<void> {
  const { permissions, ...fields } = change
  const values: Updateable<KeyRow> = {
    ...fields,
    ...(permissions && { permissions: JSON.stringify(permissions) }),
    // The notices of another expiry are separate.
    ...('expiresAtUtc' in fields && { expiryNoticeDays: null }),
  }
  await tx.run(tx.build.updateTable('keys').set(values).where('keyId', '=', keyId))
}

export type FormerSecretUse = {
  readonly keyId: string
  /** Identifies the secret: a later rotation has another end. */
  readonly endsAtUtc: string
  readonly atUtc: string
  /** A use after this time is kept. */
  readonly unlessUsedAfterUtc: string
}

export async function recordFormerSecretUse(
  tx: Tx,
  { keyId, endsAtUtc, atUtc, unlessUsedAfterUtc }: FormerSecretUse,
): Promise<void> {
  const query = tx.build
    .updateTable('keys')
    .set({ formerLastUsedAtUtc: atUtc })
    .where('keyId', '=', keyId)
    .where('formerEndsAtUtc', '=', endsAtUtc)
    .where((row) =>
      row.or([
        row('formerLastUsedAtUtc', 'is', null),
        row('formerLastUsedAtUtc', '<=', unlessUsedAfterUtc),
      ]),
    )
  await tx.run(query)
}
