import type { Clock } from '../../lib/clock.ts'
import { HttpError } from '../../lib/errors.ts'

/** Slows down password guessing, per user name and address and per user name alone. */
export type SignInThrottle = {
  /**
   * Call it before the password is checked. The attempt counts as failed until `recordSuccess`, so
   * that parallel attempts gain nothing.
   *
   * @param isKnownAddress whether the user has recently been active from the address.
   * @throws HttpError 429 with Retry-After.
   */
  readonly checkAllowed: (attempt: SignInAttempt, isKnownAddress: boolean) => void
  /** Clears the counts: the password was correct. */
  readonly recordSuccess: (attempt: SignInAttempt) => void
}

/** `nameKey` is the typed name; a user with this name need not exist. */
export type SignInAttempt = { readonly nameKey: string; readonly clientIp: string }

/** Failed attempts without a wait, per name and address, and per name from all addresses. */
const freeAttempts = 5
const freeAttemptsAnyAddress = 50

/** Each further attempt doubles the wait, up to 15 minutes: no user is locked out permanently. */
const waitMsMax = 15 * 60_000
const waitMsMin = 1000

/** A count is deleted after this time without a failed attempt. */
const resetMs = 3_600_000
const countsMax = 100_000

type FailedSignIns = {
  readonly count: number
  readonly allowedAtMs: number
  readonly lastMs: number
}

/**
 * After five failed attempts for a name from one address, each further one doubles the wait. Failed
 * attempts from many addresses slow down the name as well, except at addresses from which the user
 * was recently active: guessing cannot lock out the owner of the name.
 */
export function createSignInThrottle(clock: Clock): SignInThrottle {
  const failures = new Map<string, FailedSignIns>()

  return {
    checkAllowed: ({ nameKey, clientIp }, isKnownAddress) => {
      const nowMs = clock()
      const addressKey = `${clientIp} ${nameKey}`
      const anyAddressKey = `* ${nameKey}`
      const waitMs = Math.max(
        remainingMs(addressKey, nowMs),
        isKnownAddress ? 0 : remainingMs(anyAddressKey, nowMs),
      )
      if (waitMs > 0) {
        const retryAfter = String(Math.ceil(waitMs / 1000))
        const headers = { 'retry-after': retryAfter }
        throw new HttpError(429, `Too many attempts. Try again in ${retryAfter} s.`, { headers })
      }
      countFailure(addressKey, freeAttempts, nowMs)
      countFailure(anyAddressKey, freeAttemptsAnyAddress, nowMs)
    },
    recordSuccess: ({ nameKey, clientIp }) => {
      failures.delete(`${clientIp} ${nameKey}`)
      failures.delete(`* ${nameKey}`)
    },
  }

  function remainingMs(key: string, nowMs: number): number {
    return Math.max(0, (failures.get(key)?.allowedAtMs ?? 0) - nowMs)
  }

  function countFailure(key: string, freeCount: number, nowMs: number): void {
    const previous = failures.get(key)
    const isExpired = !previous || nowMs - previous.lastMs > resetMs
    const count = isExpired ? 1 : previous.count + 1
    const waitMs = count < freeCount ? 0 : Math.min(waitMsMax, waitMsMin * 2 ** (count - freeCount))
    failures.delete(key)
    const [oldest] = failures.keys()
    if (failures.size >= countsMax && oldest !== undefined) failures.delete(oldest)
    failures.set(key, { count, allowedAtMs: nowMs + waitMs, lastMs: nowMs })
  }
}
