/** Converts the text of a date picker to ISO 8601. The text has no time zone and is read as UTC. */
export function utcFromPicker(text: string): string {
  return `${text.replace(' ', 'T')}Z`
}

/** Converts ISO 8601 UTC to the text of a date picker: `2026-01-31 14:00:00`. */
export function pickerFromUtc(utc: string): string {
  return utc.slice(0, 19).replace('T', ' ')
}
