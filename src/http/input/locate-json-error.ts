const digits = /[0-9]/u
const hexDigits = /^[0-9a-fA-F]{4}$/u
const whitespace = new Set([' ', '\t', '\n', '\r'])
const escapes = new Set(['"', '\\', '/', 'b', 'f', 'n', 'r', 't'])

/** Deeper values are not followed, because their number is limited elsewhere. */
const depthMax = 64

/** Describes where a text stops being JSON, as `line 2, column 14: expected …`. */
export function describeJsonError(text: string): string {
  const { offset, expected } = locateJsonError(text)
  const lines = text.slice(0, offset).split('\n')
  const column = Array.from(lines.at(-1) ?? '').length + 1
  return `line ${lines.length}, column ${column}: expected ${expected}`
}

/**
 * Finds where a text stops being JSON. It runs only on text that the JSON parser has rejected; the
 * messages of the parser do not always contain a position.
 */
export function locateJsonError(text: string) {
  try {
    readDocument(text)
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    return { offset: error.offset, expected: error.message }
  }
  return { offset: text.length, expected: 'JSON' }
}

/** States where a text stops being JSON; the message is what was expected there. */
class JsonSyntaxError extends Error {
  readonly offset: number

  constructor(offset: number, expected: string) {
    super(expected)
    this.offset = offset
  }
}

function readDocument(text: string): void {
  const end = skipSpace(text, readValue(text, skipSpace(text, 0), 0))
  if (end < text.length) throw new JsonSyntaxError(end, 'the end of the body')
}

/** @returns the offset after the value. */
function readValue(text: string, offset: number, depth: number): number {
  const character = text[offset]
  if (depth > depthMax) throw new JsonSyntaxError(offset, 'less nesting')
  if (character === '{') return readObject(text, offset, depth)
  if (character === '[') return readList(text, offset, depth)
  if (character === '"') return readText(text, offset)
  if (character === '-' || (character !== undefined && digits.test(character)))
    return readNumber(text, offset)
  const literal = ['true', 'false', 'null'].find((word) => text.startsWith(word, offset))
  if (literal === undefined)
    throw new JsonSyntaxError(
      offset,
      'a value: text in double quotes, a number, true, false, null, { or [',
    )
  return offset + literal.length
}

function readObject(text: string, start: number, depth: number): number {
  let offset = skipSpace(text, start + 1)
  if (text[offset] === '}') return offset + 1
  for (;;) {
    if (text[offset] !== '"') throw new JsonSyntaxError(offset, 'a name in double quotes')
    offset = skipSpace(text, readText(text, offset))
    if (text[offset] !== ':') throw new JsonSyntaxError(offset, 'a colon after the name')
    offset = skipSpace(text, readValue(text, skipSpace(text, offset + 1), depth + 1))
    if (text[offset] === '}') return offset + 1
    if (text[offset] !== ',') throw new JsonSyntaxError(offset, 'a comma or }')
    offset = skipSpace(text, offset + 1)
  }
}

function readList(text: string, start: number, depth: number): number {
  let offset = skipSpace(text, start + 1)
  if (text[offset] === ']') return offset + 1
  for (;;) {
    offset = skipSpace(text, readValue(text, offset, depth + 1))
    if (text[offset] === ']') return offset + 1
    if (text[offset] !== ',') throw new JsonSyntaxError(offset, 'a comma or ]')
    offset = skipSpace(text, offset + 1)
  }
}

/** Characters of a text that need no check: neither a quote, a backslash nor a control character. */
const plainPattern = /[ !#-[\]-\uFFFF]*/y

function readText(text: string, start: number): number {
  for (let offset = start + 1; offset < text.length; offset++) {
    plainPattern.lastIndex = offset
    offset += plainPattern.exec(text)?.[0].length ?? 0
    if (offset === text.length) break
    const character = text[offset] ?? ''
    if (character === '"') return offset + 1
    if (character < ' ')
      throw new JsonSyntaxError(offset, 'an escape such as \\n in place of a control character')
    if (character === '\\') offset = readEscape(text, offset)
  }
  throw new JsonSyntaxError(start, 'a closing quote for the text that starts here')
}

/** @returns the offset of the last character of the escape. */
function readEscape(text: string, offset: number): number {
  const character = text[offset + 1] ?? ''
  if (escapes.has(character)) return offset + 1
  if (character === 'u' && hexDigits.test(text.slice(offset + 2, offset + 6))) return offset + 5
  throw new JsonSyntaxError(offset, 'a valid escape; write a backslash as \\\\')
}

const numberPattern = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?/uy

function readNumber(text: string, offset: number): number {
  numberPattern.lastIndex = offset
  const [number] = numberPattern.exec(text) ?? []
  if (number === undefined) throw new JsonSyntaxError(offset, 'a number')
  return offset + number.length
}

function skipSpace(text: string, start: number): number {
  let offset = start
  while (whitespace.has(text[offset] ?? '')) offset++
  return offset
}
