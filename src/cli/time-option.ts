import { parseUtc } from '../lib/utc.ts'
import { UsageError } from './command.ts'

/** A moment that an option names. @throws UsageError for what is in no calendar. */
export function parseTimeOption(option: string, value: string): Date {
  try {
    return parseUtc(value)
  } catch (cause) {
    if (cause instanceof RangeError) throw new UsageError(`${option}: ${cause.message}`, { cause })
    throw cause
  }
}
