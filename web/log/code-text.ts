/** Returns an error code in words: `RATE_LIMITED` → `Rate limited`. */
export function codeText(code: string): string {
  const words = code.toLowerCase().replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
