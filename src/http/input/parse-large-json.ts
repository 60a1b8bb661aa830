import { isAscii } from 'node:buffer'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { HttpError, invalidRequest } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import { appendStep } from '../../lib/validation/describe-issue.ts'
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
 * @param checkOutline receives a large body whose long texts are not decoded yet. It may throw. The
 *   body is then that of an action call.
 * @throws HttpError 400 that describes what is malformed; ActionError INVALID_REQUEST if long texts of
 *   an action call are no images.
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
  const textsByMarker = new Map(texts.map((text, index) => [`${marker}${index}`, text]))
  const places = findPlaces(outline, 'body', textsByMarker)
  for (const { parent, key } of places) Object.assign(parent, { [key]: '' })
  if (checkOutline) {
    await checkOutline(outline)
    requireImages(places, content)
  }
  const pause = createPause()
  for (const { parent, key, ...text } of places) {
    const decoded = await decodePlain(content, text, pause)
    Object.assign(parent, { [key]: decoded ?? (await decodeAny(content, text, pause)) })
  }
  await nextTurn()
  return outline
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
    const parts = outline.slice(0, offset).split(marker)
    const last = parts.length - 2
    const end = texts[last]?.end
    // The rest after the last long text begins with its index and a quote.
    const rest = Buffer.byteLength(parts.at(-1) ?? '')
    const position = end === undefined ? rest : end + 1 + rest - `${last}"`.length
    const detail = `byte ${position + 1}: expected ${expected}`
    throw new HttpError(400, `${bodyName} is not valid JSON: ${detail}.`, { cause })
  }
}

/** A long text and its place in the outline. */
type TextPlace = LongText & { readonly parent: object; readonly key: string; readonly path: string }

function findPlaces(
  parent: object,
  path: string,
  textsByMarker: ReadonlyMap<unknown, LongText>,
): TextPlace[] {
  return Object.entries(parent).flatMap(([key, value]: [string, unknown]) => {
    const innerPath = appendStep(path, Array.isArray(parent) ? Number(key) : key)
    if (typeof value === 'object' && value !== null)
      return findPlaces(value, innerPath, textsByMarker)
    const text = textsByMarker.get(value)
    return text ? [{ ...text, parent, key, path: innerPath }] : []
  })
}

/** The bytes of all long texts of a call that are no images: several times those of any valid call. */
const otherTextsBytesMax = 256 * 1024
const imagePath = /^body\.params\.images\[\d+\]\.bytes$/u

/** Rejects long texts before they are decoded, copied and hashed, which blocks the event loop for 100 ms. */
function requireImages(places: readonly TextPlace[], content: Buffer): void {
  let byteCount = 0
  for (const { path, start, end } of places) {
    if (imagePath.test(path) && isAscii(content.subarray(start, end))) continue
    byteCount += end - start - 1
    if (byteCount > otherTextsBytesMax)
      throw invalidRequest(
        `${path.replace(/^body\.?/u, '')}: must be shorter; texts over 1024 bytes must be at most ${otherTextsBytesMax} bytes together`,
        { hint: 'Send an image as base64 in params.images[].bytes, which does not count.' },
      )
  }
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
