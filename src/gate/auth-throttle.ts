import { setTimeout as sleep } from 'node:timers/promises'
import { takeToken, type RateLimits } from './limit.ts'

/** Keeps guessing of keys slow, per address. */
export type AuthThrottle = {
  /** Called for every wrong key. @returns seconds to wait before the next; 0 within the limit. */
  readonly recordFailure: (clientIp: string) => Promise<number>
}

const trackedAddressesMax = 10_000
const delayedMax = 1000
const delayMs = 250

/**
 * Beyond its limit, an address waits a quarter of a second for each 401. Only wrong keys are slowed:
 * a right one is looked up and let in at once even then, because behind a proxy or one company's
 * router all clients share an address, and one bad script must not lock the others out. Against
 * guessing itself, 256 random bits and the checksum are the defence; this bounds the noise.
 */
export function createAuthThrottle(limits: RateLimits, nowUs: () => number): AuthThrottle {
  const fullAtUs = new Map<string, number>()
  let held = 0
  return {
    recordFailure: async (clientIp) => {
      const tokens = takeToken(limits, fullAtUs.get(clientIp) ?? null, nowUs())
      remember(clientIp, tokens.fullAtUs)
      if (tokens.isAllowed) return 0
      if (held < delayedMax) {
        held++
        await sleep(delayMs).finally(() => held--)
      }
      return tokens.retryAfterS
    },
  }

  /** The address that was wrong longest ago is forgotten first. */
  function remember(clientIp: string, us: number): void {
    fullAtUs.delete(clientIp)
    const [oldest] = fullAtUs.keys()
    if (fullAtUs.size >= trackedAddressesMax && oldest !== undefined) fullAtUs.delete(oldest)
    fullAtUs.set(clientIp, us)
  }
}
