import type { Store } from '../../store/database.ts'
import { recordFormerSecretUse } from '../../store/tenancy/key-changes.ts'
import { hasFormerSecretEnded, type KeyIdentity } from '../../store/tenancy/keys.ts'

/** The last use of a key, and of its former secret, is stored at most once per interval. */
export const touchIntervalMs = 60_000

type SecretUser = Pick<KeyIdentity, 'keyId' | 'formerSecret'>

/** Whether the caller sent the former secret of its key, and its overlap has ended. */
export function isReplaced({ formerSecret }: SecretUser, nowMs: number): boolean {
  return formerSecret !== undefined && hasFormerSecretEnded(formerSecret, new Date(nowMs))
}

/**
 * Stores the last use of a former secret, at most once per interval. A call with the current secret
 * runs no statement for it.
 */
export async function touchFormerSecret(
  store: Pick<Store, 'write'>,
  { keyId, formerSecret }: SecretUser,
  nowMs: number,
): Promise<void> {
  if (!formerSecret) return
  const beforeMs = nowMs - touchIntervalMs
  if (Date.parse(formerSecret.lastUsedAtUtc ?? '1970') > beforeMs) return
  const use = {
    keyId,
    endsAtUtc: formerSecret.endsAtUtc,
    atUtc: new Date(nowMs).toISOString(),
    unlessUsedAfterUtc: new Date(beforeMs).toISOString(),
  }
  await store.write((tx) => recordFormerSecretUse(tx, use))
}
