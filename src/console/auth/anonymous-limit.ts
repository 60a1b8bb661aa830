import { createAddressBuckets } from '../../gate/address-buckets.ts'
import type { HttpRequest } from '../../http/route.ts'
import type { Clock } from '../../lib/clock.ts'
import { HttpError } from '../../lib/errors.ts'

/**
 * Limits the requests without a session to the routes that need none, per client address.
 *
 * @throws HttpError 429 with Retry-After.
 */
export type AnonymousLimit = (request: Pick<HttpRequest, 'method' | 'clientIp'>) => void

/** The state of the session. It costs two database reads. */
const readLimits = { sustainedPerS: 20, burst: 100 }

/** Sign-in and setup. Each hashes a password, which takes about 30 ms of one core. */
const writeLimits = { sustainedPerS: 5, burst: 20 }

export function createAnonymousLimit(clock: Clock): AnonymousLimit {
  const nowUs = (): number => clock() * 1000
  const takeRead = createAddressBuckets(readLimits, nowUs)
  const takeWrite = createAddressBuckets(writeLimits, nowUs)
  return ({ method, clientIp }) => {
    const { isAllowed, retryAfterS } = (method === 'POST' ? takeWrite : takeRead)(clientIp)
    if (isAllowed) return
    const headers = { 'retry-after': String(retryAfterS) }
    throw new HttpError(
      429,
      `Too many requests without a session. Try again in ${retryAfterS} s.`,
      {
        headers,
      },
    )
  }
}
