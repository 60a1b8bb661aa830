import { setTimeout as sleep } from 'node:timers/promises'

/** Requests that are at work in this process, so that their twins can wait for them. */
export type InFlightCalls = {
  /** @returns what to call at the end of the work, whatever its end. */
  readonly begin: (scope: string) => () => void
  /** Resolves at the end of the work, or after a while, when it is time to ask the database again. */
  readonly wait: (scope: string, msMax: number) => Promise<void>
  readonly stats: () => InFlightStats
}

export type InFlightStats = {
  /** Calls that wait now for their first attempt. */
  readonly duplicatesWaiting: number
  /** How often one has begun to wait since the start. */
  readonly duplicateWaits: number
}

/** Work in another process tells nobody here when it ends. */
const pollMs = 100

export function createInFlightCalls(): InFlightCalls {
  const working = new Map<string, Promise<void>>()
  let twinsWaiting = 0
  let twinWaits = 0
  return {
    begin: (scope) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      working.set(scope, promise)
      return () => {
        if (working.get(scope) === promise) working.delete(scope)
        resolve()
      }
    },
    wait: async (scope, msMax) => {
      twinsWaiting += 1
      twinWaits += 1
      const own = working.get(scope)
      const timer = new AbortController()
      const time = sleep(Math.max(0, own ? msMax : Math.min(msMax, pollMs)), undefined, {
        signal: timer.signal,
      }).catch(() => undefined)
      await Promise.race([time, ...(own ? [own] : [])])
      timer.abort()
      twinsWaiting -= 1
    },
    stats: () => ({ duplicatesWaiting: twinsWaiting, duplicateWaits: twinWaits }),
  }
}
