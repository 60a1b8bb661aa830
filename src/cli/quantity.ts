/** Formats a number with its noun: `1 day`, `12 days`. */
export function quantity(value: number, one: string): string {
  return `${value} ${one}${value === 1 ? '' : 's'}`
}
