import type { Clock } from '../lib/clock.ts'
import { isApiKey } from '../lib/api-key.ts'
import { HttpError } from '../lib/errors.ts'
import type { Database } from '../store/database.ts'
import { findKey, type KeyFacts } from '../store/keys.ts'

/** Missing, cut, mistyped and unknown keys get one identical answer: nothing is to be learnt. */
const unknownKey = 'API key missing or unknown.'

/**
 * Whose call is this? Asked before the body is read, so that strangers cost one look-up at most.
 *
 * @throws HttpError 401 that says missing or unknown, revoked, or expired.
 */
export async function identify(
  db: Database,
  clock: Clock,
  apiKey: string | undefined,
): Promise<KeyFacts> {
  if (apiKey === undefined || !isApiKey(apiKey)) throw new HttpError(401, unknownKey)
  const key = await findKey(db, apiKey, new Date(clock()))
  if (!key) throw new HttpError(401, unknownKey)
  if (key.state !== 'active') throw new HttpError(401, `API key ${key.state}.`)
  return key
}
