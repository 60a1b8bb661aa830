import { setTimeout as sleep } from 'node:timers/promises'
import type { RandomSource } from '../../src/evaluation/seeded-random.ts'

export type LoadStream = {
  readonly perSecond: number
  readonly send: () => Promise<void>
}

/** Calls in flight of one stream; further calls are skipped, as the limit of an open load. */
const inFlightMax = 64

/**
 * Sends calls at random times (Poisson arrivals), independently of the responses.
 *
 * @returns the number of skipped calls.
 */
export async function runLoad(
  { perSecond, send }: LoadStream,
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
