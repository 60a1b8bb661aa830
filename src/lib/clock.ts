/** Units of time in milliseconds. */
export const hourMs = 3_600_000
export const dayMs = 24 * hourMs
export const weekMs = 7 * dayMs

/** Milliseconds since 1970 UTC. The clock is a parameter, so that tests can set the time. */
export type Clock = () => number

export const systemClock: Clock = () => Date.now()

/**
 * Whole microseconds since 1970 UTC from a monotonic clock. It starts with the system time at the start
 * of the process and only runs forward. Rate limits and deadlines use it, so that a change of the
 * system time neither allows an extra burst nor blocks calls.
 */
export type SteadyClock = () => number

export const steadyClock: SteadyClock = () =>
  Math.floor((performance.timeOrigin + performance.now()) * 1000)

/** Formats a time as ISO 8601 in UTC with milliseconds, the format of all outputs. */
export function formatUtc(ms: number): string {
  return new Date(ms).toISOString()
}

/** Returns the day of a time that `formatUtc` formatted, as `2026-11-29`. */
export function dayOf(utc: string): string {
  return utc.slice(0, 'yyyy-mm-dd'.length)
}

const isoPattern =
  /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}:\d{2})(:\d{2}(?:\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})?)?$/u

/**
 * Parses an ISO 8601 date, or date and time. Without an offset it is UTC.
 *
 * @throws RangeError for other text and for dates that do not exist: `new Date` converts 2026-02-30
 *   to 2 March.
 */
export function parseUtc(text: string): Date {
  const [, day, time = '00:00', seconds = ':00', offset = 'Z'] = isoPattern.exec(text) ?? []
  if (day === undefined) throw new RangeError(`${text} is not an ISO 8601 date or time`)
  const date = new Date(`${day}T${time}${seconds}${offset}`)
  const midnight = new Date(`${day}T00:00:00Z`)
  const exists = !Number.isNaN(date.getTime()) && midnight.toISOString().startsWith(day)
  if (!exists) throw new RangeError(`${text} is a date that does not exist`)
  return date
}
