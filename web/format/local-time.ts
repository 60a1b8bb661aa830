/** Returns a time in the time zone of the browser, with the name of the zone. */
export function formatLocal(time: Date): string {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
  const text = time.toLocaleString('sv-SE', { dateStyle: 'short', timeStyle: 'medium' })
  return `${text} (${timeZone})`
}
