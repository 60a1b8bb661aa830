import type { Clock } from '../../lib/clock.ts'
import { HttpError } from '../../lib/errors.ts'

/** Keeps guessing of passwords slow: by account and address, and by account alone. */
export type SignInThrottle = {
  /**
   * Asked before a password is looked at; the guess counts as wrong until it is forgiven, so that
   * guesses that come together gain nothing.
   *
   * @param isKnownPlace whether somebody has signed in to the account from the address lately.
   * @throws HttpError 429 with Retry-After.
   */
  readonly checkAllowed: (guess: SignInAttempt, isKnownPlace: boolean) => void
  /** The password was right. */
  readonly recordSuccess: (guess: SignInAttempt) => void
}

/** `nameKey` is what was typed, whether or not there is such an account. */
export type SignInAttempt = { readonly nameKey: string; readonly clientIp: string }

/** Wrong guesses that are free, per account and address, and per account from wherever. */
const freeAttempts = 5
const freeAttemptsAnyAddress = 50

/** Beyond them each doubles the wait, up to a quarter of an hour: nobody is locked out for ever. */
const waitMsMax = 15 * 60_000
const waitMsMin = 1000

/** A count is forgotten when nobody guessed for so long. */
const resetMs = 3_600_000
const countsMax = 100_000

type FailedSignIns = {
  readonly wrong: number
  readonly allowedAtMs: number
  readonly lastMs: number
}

/**
 * Five wrong passwords of an account from one address, and each further one doubles the wait. Many
 * addresses together slow an account down as well, but not for addresses that the account was used
 * from: whoever guesses cannot keep its owner out.
 */
export function createSignInThrottle(clock: Clock): SignInThrottle {
  const counts = new Map<string, FailedSignIns>()

  return {
    checkAllowed: ({ nameKey, clientIp }, isKnownPlace) => {
      const nowMs = clock()
      const here = `${clientIp} ${nameKey}`
      const anywhere = `* ${nameKey}`
      const waitMs = Math.max(waitOf(here, nowMs), isKnownPlace ? 0 : waitOf(anywhere, nowMs))
      if (waitMs > 0) {
        const retryAfter = String(Math.ceil(waitMs / 1000))
        const wait = { 'retry-after': retryAfter }
        throw new HttpError(429, `Too many tries; try again in ${retryAfter} s.`, { headers: wait })
      }
      countWrong(here, freeAttempts, nowMs)
      countWrong(anywhere, freeAttemptsAnyAddress, nowMs)
    },
    recordSuccess: ({ nameKey, clientIp }) => {
      counts.delete(`${clientIp} ${nameKey}`)
      counts.delete(`* ${nameKey}`)
    },
  }

  function waitOf(key: string, nowMs: number): number {
    return Math.max(0, (counts.get(key)?.allowedAtMs ?? 0) - nowMs)
  }

  function countWrong(key: string, free: number, nowMs: number): void {
    const before = counts.get(key)
    const isForgotten = !before || nowMs - before.lastMs > resetMs
    const wrong = isForgotten ? 1 : before.wrong + 1
    const waitMs = wrong < free ? 0 : Math.min(waitMsMax, waitMsMin * 2 ** (wrong - free))
    counts.delete(key)
    const [oldest] = counts.keys()
    if (counts.size >= countsMax && oldest !== undefined) counts.delete(oldest)
    counts.set(key, { wrong, allowedAtMs: nowMs + waitMs, lastMs: nowMs })
  }
}
