import { isApiKey } from '../lib/crypto/api-key.ts'
import type { Clock } from '../lib/clock.ts'
import { HttpError } from '../lib/errors.ts'
import type { KeyIdentity, FindKey, KeyState } from '../store/tenancy/keys.ts'
import type { AuthThrottle } from './auth-throttle.ts'

/** The parts of a request that are available before its body is read. */
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
 * Finds the project of the API key. It runs before the body is read, so that an unauthenticated
 * request costs at most one database read. Missing, truncated, mistyped and unknown keys get the
 * same response, so that it reveals nothing about existing keys.
 *
 * @throws HttpError 401: missing or unknown, revoked, or expired.
 */
export async function authenticate(
  { headers, clientIp }: RequestIdentity,
  deps: AuthenticateDeps,
): Promise<KeyIdentity> {
  const apiKey = headers['x-api-key']
  const isWellFormed = apiKey !== undefined && isApiKey(apiKey)
  const key = isWellFormed ? await deps.findKey(apiKey, new Date(deps.clock())) : undefined
  if (key?.state === 'active') return key
  const retryAfterS = await deps.authThrottle.recordFailure(clientIp)
  const retryAfter = retryAfterS > 0 ? { 'retry-after': String(retryAfterS) } : {}
  const detail = unauthorizedMessages[key?.state ?? 'unknown']
  throw new HttpError(401, detail, { headers: { ...apiKeyChallenge, ...retryAfter } })
}

/**
 * The header of a 401 response that names the required credentials (RFC 9110, section 11.6.1). No
 * registered scheme describes a key in a separate header. `Basic` and `Bearer` would be wrong:
 * clients would send credentials that the service does not read.
 */
export const apiKeyChallenge = {
  'www-authenticate': 'ApiKey realm="facegate", in="header", name="X-Api-Key"',
} as const

/** The messages of the API contract. */
export const unauthorizedMessages: Readonly<
  Record<Exclude<KeyState, 'active'> | 'unknown', string>
> = {
  unknown: 'API key missing or unknown.',
  revoked: 'API key revoked.',
  expired: 'API key expired.',
}
