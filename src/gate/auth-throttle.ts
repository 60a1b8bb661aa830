import { setTimeout as sleep } from 'node:timers/promises'
import { createAddressBuckets } from './address-buckets.ts'
import type { RateLimits } from '../lib/limits/token-bucket.ts'

/** Slows down failed authentication, per client address. */
export type AuthThrottle = ReturnType<typeof createAuthThrottle>

const delayedMax = 1000
const delayMs = 250

/**
 * Creates the throttle. Above its limit, an address waits a quarter of a second for each 401.
 * Only failed authentication is delayed; a valid key is accepted immediately. Behind a proxy or a
 * company router all clients share an address, and one faulty script must not lock out the others.
 * The protection against guessing is the 256 random bits of a key and its checksum; the throttle
 * only limits the load.
 */
export function createAuthThrottle(limits: RateLimits, nowUs: () => number) {
  const takeTokenOf = createAddressBuckets(limits, nowUs)
  let delayedCount = 0
  return {
    /**
     * Records a failed authentication and delays its 401 response if the address is over its limit.
     *
     * @returns the seconds to wait before the next attempt; 0 within the limit.
     */
    recordFailure: async (clientIp: string): Promise<number> => {
      const tokens = takeTokenOf(clientIp)
      if (tokens.isAllowed) return 0
      if (delayedCount < delayedMax) {
        delayedCount++
        await sleep(delayMs).finally(() => delayedCount--)
      }
      return tokens.retryAfterS
    },
  }
}
