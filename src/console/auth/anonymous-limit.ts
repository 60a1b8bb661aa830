import { createAddressBuckets } from '../../gate/address-buckets.ts'
import type { HttpRequest } from '../../http/route.ts'
import type { Clock } from '../../lib/clock.ts'
import { HttpError } from '../../lib/errors.ts'

/**
 * Limits the reads without a session, per client address. `createSignInThrottle` limits sign-in.
 *
 * @throws HttpError 429 with Retry-After.
 */
export type AnonymousLimit = (request: Pick<HttpRequest, 'method' | 'clientIp'>) => void

/** The state of the session. It costs two database reads. */
const readLimits = { sustainedPerS: 20, burst: 100 }

export function createAnonymousLimit(clock: Clock): AnonymousLimit {
  const takeRead = createAddressBuckets(readLimits, () => clock() * 1000)
  return ({ method, clientIp }) => {
    if (method !== 'GET') return
    const { isAllowed, retryAfterS } = takeRead(clientIp)
    if (isAllowed) return
    const headers = { 'retry-after': String(retryAfterS) }
    const detail = `Too many requests without a session. Try again in ${retryAfterS} s.`
    throw new HttpError(429, detail, { headers })
  }
}
