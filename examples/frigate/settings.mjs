/** Returns an environment variable. An empty one counts as absent. */
export const readText = (name, absent) => process.env[name]?.trim() || absent

/** Returns a wait in milliseconds, at least 1: a timer uses 1 ms in place of an invalid one. */
export function readMilliseconds(name, absent) {
  const text = readText(name, absent)
  const rule = `a whole number of milliseconds, 1 to 999999999: set ${absent}, or remove it`
  return /^[1-9]\d{0,8}$/u.test(text) ? Number(text) : end(name, rule)
}

/** Returns an address that begins with one of the schemes. */
export function readAddress(name, absent, schemes) {
  const text = readText(name, absent)
  const rule = `an address that begins with ${schemes.join('// or ')}//, for example ${absent}`
  return URL.canParse(text) && schemes.includes(new URL(text).protocol) ? text : end(name, rule)
}

/** Ends the program. The value is not printed: an address can contain a password. */
function end(name, rule) {
  console.error(`${name} must be ${rule}`)
  process.exit(1)
}
