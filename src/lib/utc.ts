/** A moment as all of our texts have it: ISO 8601 in UTC, with milliseconds. */
export function formatUtc(ms: number): string {
  return new Date(ms).toISOString()
}

const isoPattern =
  /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}:\d{2})(:\d{2}(?:\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})?)?$/u

/**
 * Reads a moment in ISO 8601: a day, or a day and a time. What names no offset is UTC.
 *
 * @throws RangeError for any other text and for days that are in no calendar: `new Date` makes the
 * 2nd of March of 2026-02-30.
 */
export function parseUtc(text: string): Date {
  const [, day, time = '00:00', seconds = ':00', offset = 'Z'] = isoPattern.exec(text) ?? []
  if (day === undefined) throw new RangeError(`${text} is no ISO 8601 date or time`)
  const moment = new Date(`${day}T${time}${seconds}${offset}`)
  const midnight = new Date(`${day}T00:00:00Z`)
  const isReal = !Number.isNaN(moment.getTime()) && midnight.toISOString().startsWith(day)
  if (!isReal) throw new RangeError(`${text} is in no calendar`)
  return moment
}
