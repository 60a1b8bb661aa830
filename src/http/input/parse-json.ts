import { isUtf8 } from 'node:buffer'
import { HttpError, invalidRequest } from '../../lib/errors.ts'
import { appendStep } from '../../lib/validation/describe-issue.ts'
import { describeJsonError } from './locate-json-error.ts'
import type { HttpRequest } from '../route.ts'

export type JsonLimits = {
  readonly depthMax: number
  /** Braces, brackets, colons and commas outside strings. */
  readonly tokensMax: number
}

/** The limits of a text, with its name in messages. */
type NamedLimits = JsonLimits & { readonly name: string }

const quote = 0x22
const backslash = 0x5c
const colon = 0x3a
const comma = 0x2c
const openingBrackets = new Set([0x7b, 0x5b])
const closingBrackets = new Set([0x7d, 0x5d])
const whitespace = new Set<number | undefined>([0x20, 0x09, 0x0a, 0x0d])

/** The largest body that is parsed at once, and the most bytes of a body outside its texts. */
export const smallBodyBytesMax = 256 * 1024

/** Longer texts of a large body are decoded in slices. A key is at most as long. */
const shortTextBytesMax = 1024

/** The bytes of all other texts and keys of a body, which are parsed at once: about 10 ms. */
const shortTextsBytesMax = 1024 * 1024

/** The place of a long text in a body: its quotes. */
export type LongText = { readonly start: number; readonly end: number }

export type JsonObject = Readonly<Record<string, unknown>>

/**
 * Parses a request body to an object. Its structure is checked against the limits before
 * `JSON.parse` runs: ten mebibytes of `[{},{},…` would block the event loop for most of a second,
 * while one pass that skips strings does not. Larger texts are parsed by `parseJsonBody`.
 *
 * @throws HttpError 400 that describes what is malformed.
 */
export function parseJson(
  bytes: Buffer,
  { name = 'The body', ...limits }: JsonLimits & Partial<NamedLimits>,
): JsonObject {
  if (bytes.length > smallBodyBytesMax)
    throw new HttpError(400, `${name} is over ${smallBodyBytesMax} bytes.`)
  return requireObject(parse(toContent(bytes, name), { ...limits, name }), name)
}

/** Returns the bytes of a text without its byte order mark. @throws HttpError 400. */
export function toContent(bytes: Buffer, name: string): Buffer {
  const isMarked = bytes.subarray(0, byteOrderMark.length).equals(byteOrderMark)
  const content = isMarked ? bytes.subarray(byteOrderMark.length) : bytes
  if (content.length === 0) throw new HttpError(400, `${name} is empty; send a JSON object.`)
  if (!isUtf8(content))
    throw new HttpError(400, `${name} is not valid UTF-8; encode the JSON text as UTF-8.`)
  return content
}

/** @throws HttpError 400. */
export function requireObject(value: unknown, name: string): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new HttpError(400, `${name} must be a JSON object: { … }.`)
  return value as JsonObject
}

/** Editors and serializers of Windows write it; RFC 8259 allows parsers to ignore it. */
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf])

function parse(bytes: Buffer, limits: NamedLimits): unknown {
  try {
    checkStructure(bytes, limits)
    return JSON.parse(bytes.toString('utf8'))
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
    const location = describeJsonError(bytes.toString('utf8'))
    throw new HttpError(400, `${limits.name} is not valid JSON: ${location}.`, { cause })
  }
}

/**
 * Checks everything outside strings, and the length of keys and short texts. `JSON.parse` reports
 * invalid syntax.
 *
 * @returns the long texts, which are no keys.
 */
export function checkStructure(bytes: Buffer, { name, depthMax, tokensMax }: NamedLimits) {
  const keysByDepth: Set<string>[] = [new Set()]
  const longTexts: LongText[] = []
  let tokens = 0
  let outsideBytes = 0
  let shortTextsBytes = 0
  let quotes = 0
  // Valid JSON has fewer texts than structural characters.
  const countQuote = (): void => {
    if (++quotes > 2 * tokensMax)
      throw new HttpError(400, `${name} has more than ${2 * tokensMax} texts and escaped quotes.`)
  }
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] ?? 0
    if (byte === quote) {
      const end = stringEnd(bytes, index, countQuote)
      const isLong = end - index - 1 > shortTextBytesMax
      if (isKey(bytes, end)) {
        if (isLong) throw new HttpError(400, `${name} has a key over ${shortTextBytesMax} bytes.`)
        addKey(keysByDepth, bytes.subarray(index, end + 1))
      } else if (isLong) longTexts.push({ start: index, end })
      if (!isLong && (shortTextsBytes += end - index - 1) > shortTextsBytesMax)
        throw new HttpError(
          400,
          `${name} has more than ${shortTextsBytesMax} bytes in texts of up to ${shortTextBytesMax} bytes.`,
        )
      index = end
      continue
    }
    if (++outsideBytes > smallBodyBytesMax)
      throw new HttpError(400, `${name} has more than ${smallBodyBytesMax} bytes outside texts.`)
    const opens = openingBrackets.has(byte)
    const closes = closingBrackets.has(byte)
    if (!opens && !closes && byte !== colon && byte !== comma) continue
    if (++tokens > tokensMax)
      throw new HttpError(400, `${name} has more than ${tokensMax} structural characters.`)
    if (opens && keysByDepth.push(new Set()) - 1 > depthMax)
      throw new HttpError(400, `${name} is nested deeper than ${depthMax}.`)
    if (closes) keysByDepth.pop()
  }
  return longTexts
}

/**
 * Returns the index of the quote that ends the string starting at `start`.
 *
 * @param countQuote is called for that quote and for each escaped one.
 */
function stringEnd(bytes: Buffer, start: number, countQuote: () => void): number {
  let end = start
  do {
    end = bytes.indexOf(quote, end + 1)
    countQuote()
  } while (end !== -1 && isEscaped(bytes, end))
  if (end === -1) throw new SyntaxError('a text is not closed')
  return end
}

/** A quote is escaped when an odd number of backslashes precedes it. */
function isEscaped(bytes: Buffer, quoteIndex: number): boolean {
  let index = quoteIndex - 1
  while (bytes[index] === backslash) index--
  return (quoteIndex - 1 - index) % 2 === 1
}

function isKey(bytes: Buffer, end: number): boolean {
  let index = end + 1
  // More space is rejected outside texts.
  while (whitespace.has(bytes[index]) && index - end <= smallBodyBytesMax) index++
  return bytes[index] === colon
}

/** `__proto__` changes the object that it is copied into; valid calls never contain it. */
function addKey(keysByDepth: readonly Set<string>[], text: Buffer): void {
  const keys = keysByDepth.at(-1)
  const quoted = text.toString('utf8')
  const key = quoted.includes('\\') ? String(JSON.parse(quoted)) : quoted.slice(1, -1)
  if (key === '__proto__' || key === 'constructor')
    throw new HttpError(400, `The key ${key} is not allowed; rename it.`)
  if (keys?.has(key))
    throw new HttpError(400, `The key ${key.slice(0, 64)} is duplicated; send it once.`)
  keys?.add(key)
}

/**
 * Finds texts and numbers that a request can contain and a database cannot store: NUL, half surrogate
 * pairs, numbers beyond the largest double, and whole numbers beyond 2^53 - 1. PostgreSQL rejects NUL,
 * and both engines would store another character than half a surrogate pair, and another whole number.
 * Every text of a request is checked by this function.
 *
 * @param path the location of the value, for the messages.
 * @returns one message per problem.
 */
export function findUnstorable(value: unknown, path: string): string[] {
  if (typeof value !== 'object' || value === null) {
    const rule = violatedRule(value)
    return rule === undefined ? [] : [`${path}: ${rule}`]
  }
  return Object.entries(value).flatMap(([key, inner]) => {
    const innerPath = appendStep(path, Array.isArray(value) ? Number(key) : key)
    return violatedRule(key) === undefined
      ? findUnstorable(inner, innerPath)
      : [`${innerPath}: the name must not contain NUL or half a surrogate pair`]
  })
}

function violatedRule(value: unknown): string | undefined {
  if (typeof value === 'number') {
    const isExact = Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value)
    if (isExact) return undefined
    return `must be a number from ${Number.MIN_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}`
  }
  if (typeof value !== 'string') return undefined
  if (value.includes('\0')) return 'must not contain NUL'
  return value.isWellFormed() ? undefined : 'must not contain half a surrogate pair'
}

/** @throws ActionError INVALID_REQUEST with one problem per text or number that cannot be stored. */
export function requireStorable(value: unknown, path: string): void {
  const problems = findUnstorable(value, path)
  if (problems.length > 0) throw invalidRequest(problems)
}

/**
 * Checks the query and the path of a request. Every route with a key or a session calls it, after it
 * has authenticated the request and before it parses a parameter.
 *
 * @throws ActionError INVALID_REQUEST with one problem per text that a database cannot store, or per
 *   repeated parameter of the query, of which an object would keep only the last value.
 */
export function requireValidParameters({
  query,
  pathParams,
}: Pick<HttpRequest, 'query' | 'pathParams'>): void {
  const fields = Object.fromEntries(query)
  requireStorable(fields, 'query')
  requireStorable(pathParams, 'path')
  if (Object.keys(fields).length === query.size) return
  const problems = Object.keys(fields).flatMap((name) => {
    const { length } = query.getAll(name)
    return length > 1
      ? [`${appendStep('query', name)}: must be sent once; received ${length} values`]
      : []
  })
  throw invalidRequest(problems)
}

/** Returns text of at most `charsMax` UTF-16 units, with U+FFFD for what a database cannot store. */
export function toStorable(text: string, charsMax: number): string {
  return text.slice(0, charsMax).toWellFormed().replaceAll('\0', '\uFFFD')
}
