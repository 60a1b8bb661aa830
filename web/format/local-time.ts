/** Returns the time of the day in the zone of the browser; undefined if it is that of UTC. */
export function localTimeOfDay(time: Date): string | undefined {
  if (time.getTimezoneOffset() === 0) return undefined
  return time.toLocaleTimeString('sv-SE', { timeStyle: 'short' })
}

/** Returns a time in the time zone of the browser, with the name of the zone. */
export function formatLocal(time: Date): string {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
  const text = time.toLocaleString('sv-SE', { dateStyle: 'short', timeStyle: 'medium' })
  return `${text} (${timeZone})`
}
