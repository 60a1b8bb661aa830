import { isApiKey } from '../lib/crypto/api-key.ts'
import type { Clock } from '../lib/clock.ts'
import { HttpError } from '../lib/errors.ts'
import type { KeyIdentity, FindKey, KeyState } from '../store/tenancy/keys.ts'
import type { AuthThrottle } from './auth-throttle.ts'

/** What is known of a request before its body is read. */
export type RequestIdentity = {
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly clientIp: string
}

type AuthenticateDeps = {
  readonly findKey: FindKey
  readonly authThrottle: AuthThrottle
  readonly clock: Clock
}

/**
 * Whose call is this? Asked before the body is read, so that strangers cost one look-up at most.
 * Missing, cut, mistyped and unknown keys get one identical answer: nothing is to be learnt.
 *
 * @throws HttpError 401 that says missing or unknown, revoked, or expired.
 */
export async function authenticate(
  { headers, clientIp }: RequestIdentity,
  door: AuthenticateDeps,
): Promise<KeyIdentity> {
  const apiKey = headers['x-api-key']
  const isKey = apiKey !== undefined && isApiKey(apiKey)
  const key = isKey ? await door.findKey(apiKey, new Date(door.clock())) : undefined
  if (key?.state === 'active') return key
  const retryAfterS = await door.authThrottle.recordFailure(clientIp)
  const wait = retryAfterS > 0 ? { 'retry-after': String(retryAfterS) } : {}
  throw new HttpError(401, unauthorizedMessages[key?.state ?? 'unknown'], { headers: wait })
}

/** The texts of the contract. */
export const unauthorizedMessages: Readonly<
  Record<Exclude<KeyState, 'active'> | 'unknown', string>
> = {
  unknown: 'API key missing or unknown.',
  revoked: 'API key revoked.',
  expired: 'API key expired.',
}
