/** The date pickers' texts bear no zone (`2026-01-31 14:00:00`): here they are read as UTC. */
export function utcFromPicker(text: string): string {
  return `${text.replace(' ', 'T')}Z`
}

/** The same way back. */
export function pickerFromUtc(utc: string): string {
  return utc.slice(0, 19).replace('T', ' ')
}
