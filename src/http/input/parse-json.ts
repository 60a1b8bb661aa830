import { isUtf8 } from 'node:buffer'
import { HttpError } from '../../lib/errors.ts'

export type JsonLimits = {
  readonly depthMax: number
  /** Braces, brackets, colons and commas outside strings. */
  readonly tokensMax: number
}

const quote = 0x22
const backslash = 0x5c
const colon = 0x3a
const comma = 0x2c
const openingBrackets = new Set([0x7b, 0x5b])
const closingBrackets = new Set([0x7d, 0x5d])

/** Duplicate keys are refused down to this depth: the envelope and its `params`. */
const uniqueDepthMax = 2

/**
 * Parses a request body to an object. Its structure is bounded before `JSON.parse` sees it: ten
 * mebibytes of `[{},{},…` would block the event loop for most of a second, while one pass that
 * leaps over strings does not.
 *
 * @throws HttpError 400 that says what is malformed.
 */
export function parseJson(bytes: Buffer, limits: JsonLimits): Readonly<Record<string, unknown>> {
  if (!isUtf8(bytes)) throw new HttpError(400, 'The body is not valid UTF-8.')
  checkStructure(bytes, limits)
  const value = parse(bytes)
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new HttpError(400, 'The body must be a JSON object.')
  return value as Record<string, unknown>
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch (cause) {
    throw new HttpError(400, 'The body is not valid JSON.', { cause })
  }
}

/** Walks over everything but the insides of strings. Broken syntax is left to `JSON.parse`. */
function checkStructure(bytes: Buffer, limits: JsonLimits): void {
  const keys: Set<string>[] = [new Set()]
  let tokens = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0
    if (byte === quote) {
      const end = stringEnd(bytes, at)
      if (isKey(bytes, end)) addKey(keys, bytes.subarray(at, end + 1))
      at = end
      continue
    }
    const opens = openingBrackets.has(byte)
    const closes = closingBrackets.has(byte)
    if (!opens && !closes && byte !== colon && byte !== comma) continue
    if (++tokens > limits.tokensMax)
      throw new HttpError(400, `The body has more than ${limits.tokensMax} structural characters.`)
    if (opens && keys.push(new Set()) - 1 > limits.depthMax)
      throw new HttpError(400, `The body is nested deeper than ${limits.depthMax}.`)
    if (closes) keys.pop()
  }
}

/** The index of the quote that ends the string begun at `start`. */
function stringEnd(bytes: Buffer, start: number): number {
  let end = bytes.indexOf(quote, start + 1)
  while (end !== -1 && isEscaped(bytes, end)) end = bytes.indexOf(quote, end + 1)
  if (end === -1) throw new HttpError(400, 'The body is not valid JSON.')
  return end
}

/** A quote is escaped when an odd number of backslashes stands before it. */
function isEscaped(bytes: Buffer, quoteAt: number): boolean {
  let at = quoteAt - 1
  while (bytes[at] === backslash) at--
  return (quoteAt - 1 - at) % 2 === 1
}

function isKey(bytes: Buffer, end: number): boolean {
  let at = end + 1
  while (bytes[at] === 0x20 || bytes[at] === 0x09 || bytes[at] === 0x0a || bytes[at] === 0x0d) at++
  return bytes[at] === colon
}

/** `__proto__` changes the meaning of the object that it is copied into; no honest call has it. */
function addKey(keys: readonly Set<string>[], text: Buffer): void {
  const known = keys.at(-1)
  const key = String(parse(text))
  if (key === '__proto__' || key === 'constructor')
    throw new HttpError(400, `The key ${key} is not allowed.`)
  if (!known || keys.length - 1 > uniqueDepthMax) return
  if (known.has(key)) throw new HttpError(400, `The key ${key.slice(0, 64)} stands twice.`)
  known.add(key)
}
