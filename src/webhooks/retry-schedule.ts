/** An event is attempted this often; the last attempt is about 34 hours after the first. */
export const attemptsMax = 12

/** An event that is still pending after this time is given up, whatever its attempts. */
export const pendingMsMax = 72 * 3_600_000

const waitMsMax = 6 * 3_600_000
const pauseMsMax = 10 * 60_000
const factor = 4

/** Each wait is longer or shorter by up to this share, so that retries do not arrive together. */
const jitter = 0.1

export type RetryOptions = {
  /** The wait after the first failed attempt. */
  readonly firstWaitMs: number
  /** Returns a number from 0 to 1. */
  readonly random: () => number
}

/** Returns the wait after the given number of failed attempts of an event, counted from 1. */
export function retryWaitMs(attempts: number, options: RetryOptions): number {
  return growingWaitMs(attempts, waitMsMax, options)
}

/**
 * Returns the wait after the given number of consecutive failures of a webhook. During it none of its
 * events is attempted, so that a webhook that does not respond costs one attempt in ten minutes.
 */
export function pauseMs(failures: number, options: RetryOptions): number {
  return growingWaitMs(failures, pauseMsMax, options)
}

function growingWaitMs(count: number, msMax: number, { firstWaitMs, random }: RetryOptions) {
  const waitMs = Math.min(firstWaitMs * factor ** (count - 1), msMax)
  return Math.round(waitMs * (1 - jitter + 2 * jitter * random()))
}
