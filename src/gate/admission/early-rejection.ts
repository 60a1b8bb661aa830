import type { ActionError } from '../../lib/errors.ts'
import { takeToken, type RateLimits } from '../../lib/limits/token-bucket.ts'
import type { Store } from '../../store/database.ts'
import { checkPermissions, checkTokens, limitsOf } from '../../store/gate/admission-rule.ts'
import { readBucketState } from '../../store/gate/bucket-state.ts'
import type { KeyIdentity } from '../../store/tenancy/keys.ts'
import { errorOf } from './admit-transaction.ts'

/**
 * Finds out whether admission will reject a call, before its body is read: by its permissions and by
 * the rate limit of its project. It writes nothing and consumes no token; the call is then rejected
 * with this error, which is logged and consumes its token as usual.
 */
export async function findEarlyRejection(
  store: Pick<Store, 'read'>,
  { caller, permissions }: EarlyCheck,
  { limits, steadyUs }: { readonly limits: RateLimits; readonly steadyUs: number },
): Promise<ActionError | undefined> {
  const forbidden = checkPermissions(caller.permissions, permissions)
  if (forbidden) return errorOf(forbidden)
  const bucket = await store.read((tx) => readBucketState(tx, caller.projectId))
  if (!bucket) return undefined // admission rejects the key
  const rejection = checkTokens(takeToken(limitsOf(bucket, limits), bucket.fullAtUs, steadyUs))
  return rejection && errorOf(rejection)
}

export type EarlyCheck = {
  readonly caller: KeyIdentity
  /** Permissions that every call of the route needs. */
  readonly permissions: readonly string[]
}
