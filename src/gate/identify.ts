import { isApiKey } from '../lib/api-key.ts'
import type { Clock } from '../lib/clock.ts'
import { HttpError } from '../lib/errors.ts'
import type { KeyFacts, KeyFinder, KeyState } from '../store/keys.ts'
import type { Strangers } from './strangers.ts'

/** What is known of a request before its body is read. */
export type Visitor = {
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly clientIp: string
}

type Door = {
  readonly findKey: KeyFinder
  readonly strangers: Strangers
  readonly clock: Clock
}

/**
 * Whose call is this? Asked before the body is read, so that strangers cost one look-up at most.
 * Missing, cut, mistyped and unknown keys get one identical answer: nothing is to be learnt.
 *
 * @throws HttpError 401 that says missing or unknown, revoked, or expired.
 */
export async function identify({ headers, clientIp }: Visitor, door: Door): Promise<KeyFacts> {
  const apiKey = headers['x-api-key']
  const isKey = apiKey !== undefined && isApiKey(apiKey)
  const key = isKey ? await door.findKey(apiKey, new Date(door.clock())) : undefined
  if (key?.state === 'active') return key
  const retryAfterS = await door.strangers.turnAway(clientIp)
  const wait = retryAfterS > 0 ? { 'retry-after': String(retryAfterS) } : {}
  throw new HttpError(401, unauthorized[key?.state ?? 'unknown'], { headers: wait })
}

/** The texts of the contract. */
export const unauthorized: Readonly<Record<Exclude<KeyState, 'active'> | 'unknown', string>> = {
  unknown: 'API key missing or unknown.',
  revoked: 'API key revoked.',
  expired: 'API key expired.',
}
