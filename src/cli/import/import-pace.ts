import { setTimeout as sleep } from 'node:timers/promises'

/** The average number of calls per second that a project allows, and the number in a burst. */
export type StatedLimit = { readonly sustainedPerS: number; readonly burst: number }

/** Spreads calls evenly over time. */
export type ImportPace = ReturnType<typeof createImportPace>

/**
 * @param perS calls per second; undefined: no limit until the service refuses a call.
 * @param onLearned receives a rate that was derived from an answer.
 */
export function createImportPace(perS: number | undefined, onLearned: (perS: number) => void) {
  let rate = perS
  // The check of the service was a call too.
  let nextMs = performance.now() + 1000 / (perS ?? Infinity)
  return {
    /** Waits for the turn of a call. @throws AbortError if `signal` is aborted first. */
    waitForTurn: async (signal: AbortSignal): Promise<void> => {
      signal.throwIfAborted()
      if (rate === undefined) return
      const turnMs = Math.max(nextMs, performance.now())
      nextMs = turnMs + 1000 / rate
      const waitMs = turnMs - performance.now()
      if (waitMs > 0) await sleep(waitMs, undefined, { signal })
    },
    /** Sets the rate after an answer RATE_LIMITED, if no rate is set yet. */
    learn: (headers: Headers): void => {
      if (rate !== undefined) return
      rate = rateOf(headers)
      if (rate !== undefined) onLearned(rate)
    },
  }
}

/** Reads the header `RateLimit-Policy`, such as `10;w=1;burst=20`; undefined without it. */
export function readStatedLimit(headers: Headers): StatedLimit | undefined {
  const policy = /^(?<calls>\d+);w=(?<seconds>\d+)(?:;burst=(?<burst>\d+))?$/u.exec(
    headers.get('ratelimit-policy') ?? '',
  )?.groups
  if (!policy) return undefined
  const sustainedPerS = Number(policy['calls']) / Number(policy['seconds'])
  return { sustainedPerS, burst: Number(policy['burst'] ?? policy['calls']) }
}

/** Of an empty bucket: the burst is available again after the seconds until the reset. */
function rateOf(headers: Headers): number | undefined {
  const stated = readStatedLimit(headers)
  if (stated) return stated.sustainedPerS
  const [burst, resetS] = [headers.get('ratelimit-limit'), headers.get('ratelimit-reset')]
  return burst === null || resetS === null
    ? undefined
    : Math.max(1, Math.floor(Number(burst) / Math.max(1, Number(resetS))))
}
