import { setTimeout as sleep } from 'node:timers/promises'

/** The calls that run in this process; retries wait for them. */
export type InFlightCalls = ReturnType<typeof createInFlightCalls>

/** The end of a call in another process is only visible in the database. */
const pollMs = 100

export function createInFlightCalls() {
  const callsByScope = new Map<string, Promise<void>>()
  let duplicatesWaiting = 0
  let duplicateWaits = 0
  return {
    /** @returns a function to call when the call ends, successful or not. */
    begin: (scope: string): (() => void) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      callsByScope.set(scope, promise)
      return () => {
        if (callsByScope.get(scope) === promise) callsByScope.delete(scope)
        resolve()
      }
    },
    /** Resolves when the call ends, or when the database is to be read again. */
    wait: async (scope: string, msMax: number): Promise<void> => {
      duplicatesWaiting += 1
      duplicateWaits += 1
      const localCall = callsByScope.get(scope)
      const timer = new AbortController()
      const timeout = sleep(Math.max(0, localCall ? msMax : Math.min(msMax, pollMs)), undefined, {
        signal: timer.signal,
      }).catch(() => undefined)
      await Promise.race([timeout, ...(localCall ? [localCall] : [])])
      timer.abort()
      duplicatesWaiting -= 1
    },
    /** The waiting retries, and the waits since the start of the process. */
    stats: () => ({ duplicatesWaiting, duplicateWaits }),
  }
}
