/** Returns whether a JSON value has at most `bytesMax` bytes. The text of a larger one is not built. */
export function isJsonWithin(value: unknown, bytesMax: number): boolean {
  return textLength(value) <= bytesMax && Buffer.byteLength(JSON.stringify(value)) <= bytesMax
}

/** Returns the number of characters in keys and texts, which is a lower limit of the bytes. */
function textLength(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 0
  const keys = Array.isArray(value) ? '' : Object.keys(value).join('')
  return Object.values(value).reduce((sum: number, part) => sum + textLength(part), keys.length)
}
