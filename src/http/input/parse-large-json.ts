import { setImmediate as nextTurn } from 'node:timers/promises'
import { HttpError } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import { locateJsonError } from './locate-json-error.ts'
import {
  checkStructure,
  parseJson,
  requireObject,
  smallBodyBytesMax,
  toContent,
  type JsonLimits,
  type JsonObject,
  type LongText,
} from './parse-json.ts'

/** Bytes of a long text that are checked or decoded in one turn of the event loop: about 2 ms. */
const sliceBytes = 1024 * 1024

/**
 * Parses a request body to an object, a large one in slices, so that the event loop is free between
 * them: 24 MiB would block it for 30 ms. Long texts, such as images, are decoded last.
 *
 * @param checkOutline receives a large body whose long texts are not decoded yet. It may throw.
 * @throws HttpError 400 that describes what is malformed.
 */
export async function parseJsonBody(
  bytes: Buffer,
  limits: JsonLimits,
  checkOutline?: (outline: JsonObject) => Promise<void>,
): Promise<JsonObject> {
  if (bytes.length <= smallBodyBytesMax) return parseJson(bytes, limits)
  const content = toContent(bytes, bodyName)
  await nextTurn()
  const texts = findLongTexts(content, limits)
  await nextTurn()
  const marker = newId()
  const outline = parseOutline(content, texts, marker)
  await checkOutline?.(outline)
  const decoded = await decodeTexts(content, texts)
  await nextTurn()
  const restore = (value: unknown): unknown => {
    if (typeof value === 'string')
      return value.startsWith(marker) ? decoded[Number(value.slice(marker.length))] : value
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map(restore)
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, restore(inner)]))
  }
  return restore(outline) as JsonObject
}

const bodyName = 'The body'

function findLongTexts(content: Buffer, limits: JsonLimits): readonly LongText[] {
  try {
    return checkStructure(content, { ...limits, name: bodyName })
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
    throw new HttpError(400, `${bodyName} is not valid JSON: ${cause.message}.`, { cause })
  }
}

/** Parses the body with a marker and an index in place of each long text. */
function parseOutline(content: Buffer, texts: readonly LongText[], marker: string): JsonObject {
  const pieces: Buffer[] = []
  let from = 0
  for (const [index, { start, end }] of texts.entries()) {
    pieces.push(content.subarray(from, start), Buffer.from(`"${marker}${index}"`))
    from = end + 1
  }
  const outline = Buffer.concat([...pieces, content.subarray(from)]).toString('utf8')
  try {
    return requireObject(JSON.parse(outline), bodyName)
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
    const { offset, expected } = locateJsonError(outline)
    const before = outline.slice(0, offset)
    const replaced = texts.slice(0, before.split(marker).length - 1)
    const replacedBytes = replaced.map(
      ({ start, end }, index) => end + 1 - start - `"${marker}${index}"`.length,
    )
    const position = replacedBytes.reduce((sum, bytes) => sum + bytes, Buffer.byteLength(before))
    const detail = `byte ${position + 1}: expected ${expected}`
    throw new HttpError(400, `${bodyName} is not valid JSON: ${detail}.`, { cause })
  }
}

async function decodeTexts(content: Buffer, texts: readonly LongText[]): Promise<string[]> {
  const decoded: string[] = []
  const pause = createPause()
  for (const text of texts)
    decoded.push(
      (await decodePlain(content, text, pause)) ?? (await decodeAny(content, text, pause)),
    )
  return decoded
}

/** Waits for the next turn of the event loop after each slice of bytes, of one text or of several. */
type Pause = (byteCount: number) => Promise<void> | undefined

function createPause(): Pause {
  let turnBytes = 0
  return (byteCount) => {
    turnBytes += byteCount
    if (turnBytes < sliceBytes) return undefined
    turnBytes = 0
    return nextTurn()
  }
}

/** Any character but those of ASCII that JSON contains without an escape. */
const notPlain = /[^ -[\]-~]/u

/** Decodes a text of plain characters, such as base64; undefined for another. */
async function decodePlain(content: Buffer, { start, end }: LongText, pause: Pause) {
  const text = content.toString('latin1', start + 1, end)
  for (let from = 0; from < text.length; from += sliceBytes) {
    const slice = text.slice(from, from + sliceBytes)
    if (notPlain.test(slice)) return undefined
    await pause(slice.length)
  }
  return text
}

const notAscii = /[^\0-\x7f]/u

/**
 * Decodes a text that can have escapes. A text over a slice can only be an image in base64. With other
 * characters it would take twice the memory, and to join its slices would block the event loop.
 */
async function decodeAny(content: Buffer, { start, end }: LongText, pause: Pause): Promise<string> {
  if (end - start - 1 <= sliceBytes) return decodeSlice(content, start + 1, end)
  const decoded = Buffer.allocUnsafeSlow(end - start)
  let length = 0
  for (let from = start + 1; from < end;) {
    const to = sliceEnd(content, from, end)
    const slice = decodeSlice(content, from, to)
    if (notAscii.test(slice))
      throw new HttpError(
        400,
        `bytes ${from + 1} to ${to}: a text over ${sliceBytes} bytes must contain only ASCII characters, as base64 does.`,
      )
    length += decoded.write(slice, length, 'latin1')
    await pause(to - from)
    from = to
  }
  return decoded.toString('latin1', 0, length)
}

function decodeSlice(content: Buffer, from: number, to: number): string {
  try {
    return String(JSON.parse(`"${content.toString('utf8', from, to)}"`))
  } catch (cause) {
    const range = `bytes ${from + 1} to ${to}`
    const detail = `${range}: expected a text without control characters and invalid escapes`
    throw new HttpError(400, `${bodyName} is not valid JSON: ${detail}.`, { cause })
  }
}

const escapeBytesMax = '\\u0000'.length
const backslash = 0x5c

/** Returns the end of a slice that divides no escape. */
function sliceEnd(content: Buffer, from: number, end: number): number {
  let to = Math.min(from + sliceBytes, end)
  if (to === end) return end
  const first = content.indexOf(backslash, to - escapeBytesMax + 1)
  if (first === -1 || first >= to) return to
  let run = first
  while (run > from && content[run - 1] === backslash) run--
  // Of an even number of backslashes before it, each second one ends an escape.
  return (first - run) % 2 === 0 ? first : first - 1
}
