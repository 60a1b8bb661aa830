import { ActionError } from '../../lib/errors.ts'
import type { Store } from '../../store/database.ts'
import { readBucketState } from '../../store/gate/bucket-state.ts'
import type { KeyIdentity } from '../../store/tenancy/keys.ts'
import { takeToken } from '../../lib/limits/token-bucket.ts'
import {
  limitsOf,
  rateLimitedError,
  requirePermission,
  type AdmitSettings,
} from './admit-transaction.ts'

/**
 * Finds out whether admission will reject a call, before its body is read: by its permissions and by
 * the rate limit of its project. It writes nothing and consumes no token; the call is then admitted
 * with this error, which is logged and consumes its token as usual.
 */
export async function findEarlyRejection(
  store: Pick<Store, 'read'>,
  { caller, permissions }: EarlyCheck,
  { limits, steadyUs }: Pick<AdmitSettings, 'limits'> & { readonly steadyUs: number },
): Promise<ActionError | undefined> {
  try {
    for (const permission of permissions) requirePermission(caller.permissions, permission)
  } catch (error) {
    if (error instanceof ActionError) return error
    throw error
  }
  const bucket = await store.read((tx) => readBucketState(tx, caller.projectId))
  if (!bucket) return undefined // admission rejects the key
  const tokens = takeToken(limitsOf(bucket, limits), bucket.fullAtUs, steadyUs)
  return tokens.isAllowed ? undefined : rateLimitedError()
}

export type EarlyCheck = {
  readonly caller: KeyIdentity
  /** Permissions that every call of the route needs. */
  readonly permissions: readonly string[]
}
