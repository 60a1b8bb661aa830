import { isApiKey } from '../lib/crypto/api-key.ts'
import type { Clock } from '../lib/clock.ts'
import { HttpError, unavailable } from '../lib/errors.ts'
import type { CredentialState, FindKey } from '../store/tenancy/keys.ts'
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
  readonly bearerKeys: boolean
}

/**
 * Finds the project of the API key. It runs before the body is read, so that an unauthenticated
 * request costs at most one database read. Missing, truncated, mistyped and unknown keys get the
 * same response, so that it reveals nothing about existing keys.
 *
 * @throws HttpError 401: missing or unknown, revoked, expired, or replaced by a rotation; 503: the
 *   account of the key is being moved to another database.
 */
export async function authenticate({ headers, clientIp }: RequestIdentity, deps: AuthenticateDeps) {
  const { apiKey, isAmbiguous } = readApiKey(headers, deps)
  const isWellFormed = apiKey !== undefined && !isAmbiguous && isApiKey(apiKey)
  const key = isWellFormed ? await deps.findKey(apiKey, new Date(deps.clock())) : undefined
  if (key?.state === 'active') {
    if (key.isFrozen === 1) throw accountIsMoved()
    return key
  }
  const retryAfterS = await deps.authThrottle.recordFailure(clientIp)
  const retryAfter = retryAfterS > 0 ? { 'retry-after': String(retryAfterS) } : {}
  const detail = isAmbiguous
    ? 'X-Api-Key and Authorization contain different keys. Send one of them.'
    : unauthorizedMessages[key?.state ?? 'unknown']
  throw new HttpError(401, detail, { headers: { ...apiKeyChallenge(deps), ...retryAfter } })
}

/** The client sends the call again, until the proxy routes it to the new database. */
export function accountIsMoved(): HttpError {
  return unavailable('The account is being moved to another database. Send the call again.', 2)
}

type AcceptedKeys = Pick<AuthenticateDeps, 'bearerKeys'>

/**
 * Reads the key from `X-Api-Key` or, if it is accepted, from `Authorization: Bearer`. Other schemes of
 * `Authorization` are ignored, because a proxy in front of the service may use them.
 */
function readApiKey(headers: RequestIdentity['headers'], accepted: AcceptedKeys) {
  const apiKey = headers['x-api-key']
  if (!accepted.bearerKeys) return { apiKey, isAmbiguous: false }
  const bearer = /^Bearer +(?<token>\S+) *$/iu.exec(headers['authorization'] ?? '')?.groups?.[
    'token'
  ]
  const isAmbiguous = apiKey !== undefined && bearer !== undefined && apiKey !== bearer
  return { apiKey: apiKey ?? bearer, isAmbiguous }
}

/**
 * Returns the header of a 401 response that names the accepted credentials (RFC 9110, section 11.6.1).
 * No registered scheme describes a key in a separate header.
 */
export function apiKeyChallenge({ bearerKeys }: AcceptedKeys) {
  const challenge = 'ApiKey realm="facegate", in="header", name="X-Api-Key"'
  return { 'www-authenticate': bearerKeys ? `Bearer realm="facegate", ${challenge}` : challenge }
}

/** The messages of the API contract, each with its remedy. */
export const unauthorizedMessages: Readonly<
  Record<Exclude<CredentialState, 'active'> | 'unknown', string>
> = {
  unknown: 'API key missing or unknown. Send the whole key in the header X-Api-Key.',
  revoked: 'API key revoked. Create a new key in the console or with facegate key create.',
  expired: 'API key expired. Create a new key in the console or with facegate key create.',
  replaced:
    'API key replaced: its secret was rotated, and this one is no longer valid. Send the new secret, or rotate the key again in the console or with facegate key rotate.',
}
