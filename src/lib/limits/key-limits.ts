import { dayMs } from '../clock.ts'

/** The lifetime of a key that is created without an expiry. A key without an end is an explicit choice. */
export const defaultKeyLifetimeDays = 365

/** Returns when a key expires that is created now without an expiry. */
export function defaultKeyExpiry(now: Date): string {
  return new Date(now.getTime() + defaultKeyLifetimeDays * dayMs).toISOString()
}
