import { setTimeout as sleep } from 'node:timers/promises'
import type { RandomSource } from '../../src/lib/random/seeded-random.ts'

export type LoadStream = {
  readonly perSecond: number
  /** Calls in flight; further calls are skipped, so that a slow machine is not overloaded. */
  readonly inFlightMax: number
  readonly send: () => Promise<void>
}

/**
 * Sends calls at random times (Poisson arrivals), independently of the responses.
 *
 * @returns the number of skipped calls.
 */
export async function runLoad(
  { perSecond, inFlightMax, send }: LoadStream,
  random: RandomSource,
  signal: AbortSignal,
): Promise<number> {
  const inFlight = new Set<Promise<void>>()
  let skipped = 0
  while (!signal.aborted) {
    const pauseMs = (-Math.log(random()) * 1000) / perSecond
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined)
    if (signal.aborted) break
    if (inFlight.size >= inFlightMax) skipped += 1
    else {
      const call = send().finally(() => inFlight.delete(call))
      inFlight.add(call)
    }
  }
  await Promise.all(inFlight)
  return skipped
}
