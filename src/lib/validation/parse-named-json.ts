/** Parses JSON. @throws Error that names `location`. */
export function parseNamedJson(text: string, location: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Error(`${location} is not JSON`, { cause })
  }
}
