/** Returns the name of a key, or undefined if it is not valid. */
export function parseKeyName(text: string): string | undefined {
  return text.length >= 1 && text.length <= 128 ? text : undefined
}

/** Returns the name of a project, or undefined if it is not valid. */
export function parseProjectName(text: string): string | undefined {
  return /^\S(?:.{0,126}\S)?$/u.test(text) ? text : undefined
}
