import { setImmediate as nextTurn } from 'node:timers/promises'
import { HttpError } from '../../lib/errors.ts'
import { contentTypeOf } from '../../lib/image-types/image-types.ts'
import type { HttpRequest } from '../route.ts'
import { readMultipart, type MultipartPart } from './multipart.ts'
import {
  parseJson,
  smallBodyBytesMax,
  type JsonLimits,
  type JsonObject,
  toStorable,
} from './parse-json.ts'
import { parseJsonBody } from './parse-large-json.ts'
import { formType, jsonType, mediaTypeOf, type JsonBodyLimits } from './read-body.ts'

export type SentCallOptions = JsonBodyLimits & {
  /**
   * The content types of an image as the body. With them, a form is also accepted; without them, JSON
   * only.
   */
  readonly imageBodyTypes?: readonly string[] | undefined
}

/** The fields of the envelope. Only a call with an image as the body has them in the query. */
export const envelopeFields = new Set(['action', 'requestId', 'params', 'debug', 'validateOnly'])

export type SentCall = {
  /** The fields of the envelope; they may be invalid. */
  readonly body: Readonly<Record<string, unknown>>
  /** The problems that the fields do not show. */
  readonly problems: readonly string[]
}

/**
 * Parses the body of a call that is JSON, an image or a form with one. An image has the effect of the
 * JSON with this image in `params.images`, so that all rules and retries are those of JSON.
 *
 * @param checkOutline receives a large body before its long texts are decoded, or before its image is
 *   encoded. It may throw.
 * @throws HttpError 400 or 415.
 */
export async function parseCallBody(
  request: HttpRequest,
  bytes: Buffer,
  options: SentCallOptions,
  checkOutline: (body: JsonObject) => Promise<void>,
): Promise<SentCall> {
  const { jsonLimits } = options
  const type = mediaTypeOf(request) ?? ''
  // An image as the body has the fields of the envelope in the query.
  const hasFields = type === jsonType || type === formType
  const misplaced = [...request.query.keys()]
    .filter((name) => hasFields && envelopeFields.has(name))
    .map((name) => `query.${name}: must be absent; send ${name} in the body`)
  if (type === jsonType)
    return { body: await parseJsonBody(bytes, jsonLimits, checkOutline), problems: misplaced }
  requireAcceptedType(type, options)
  const { texts, image, problems } =
    type === formType
      ? readForm(readMultipart(bytes, request.headers['content-type'] ?? ''))
      : { texts: [...request.query], image: { bytes, contentType: type }, problems: [] }
  const { body, correlationId } = toOutline(texts, jsonLimits)
  const twice = 'params.images: must be absent; the body has the image'
  const isLarge = bytes.length > smallBodyBytesMax
  if (isLarge) await checkOutline(body)
  const images = image && [toImageItem(image, correlationId)]
  // To encode an image and to hash it takes about 2 ms for each MiB.
  if (isLarge) await nextTurn()
  return {
    body: { ...body, params: { ...body.params, ...(images && { images }) } },
    problems: [...misplaced, ...problems, ...(image && 'images' in body.params ? [twice] : [])],
  }
}

/** @throws HttpError 415. */
function requireAcceptedType(type: string, { imageBodyTypes }: SentCallOptions): void {
  const accepted = [jsonType, ...(imageBodyTypes ? [formType, ...imageBodyTypes] : [])]
  if (accepted.includes(type)) return
  const isRefusedImage = !imageBodyTypes && (type === formType || type.startsWith('image/'))
  const remedy = ' The setting BINARY_BODIES=on of the server permits images and forms.'
  const sent = `it is ${type.slice(0, 64) || 'absent'}.${isRefusedImage ? remedy : ''}`
  throw new HttpError(415, `Content-Type must be ${accepted.join(', ')}; ${sent}`)
}

type SentImage = { readonly bytes: Buffer; readonly contentType: string }

/** The name of the file in a form. */
const fileName = 'image'

/** @throws HttpError 400 for a text over 256 KiB. */
function readForm(parts: readonly MultipartPart[]) {
  const files = parts.filter(({ isFile }) => isFile)
  const fields = parts.filter(({ isFile, name }) => !isFile && name !== fileName)
  const texts = fields.map(({ name, content }): TextField => {
    if (content.length > smallBodyBytesMax)
      throw new HttpError(
        400,
        `The field ${toStorable(name, nameCharsMax)} is over ${smallBodyBytesMax} bytes.`,
      )
    return [name, content.toString('utf8')]
  })
  const [file] = files
  const image = file && { bytes: file.content, contentType: typeOfFile(file) }
  return { texts, image, problems: describeFiles(files, parts) }
}

/** Programs that do not determine the type of a file send none, or this one. */
const unknownType = 'application/octet-stream'

function typeOfFile({ contentType, content }: MultipartPart): string {
  const isStated = contentType !== undefined && contentType !== unknownType
  return isStated ? contentType : (contentTypeOf(content) ?? 'image/jpeg')
}

/** The characters of a name in a message. */
const nameCharsMax = 64

function describeFiles(files: readonly MultipartPart[], parts: readonly MultipartPart[]) {
  const misnamed = files.filter(({ name }) => name !== fileName)
  if (misnamed.length > 0)
    return misnamed.map(
      ({ name }) =>
        `body.${toStorable(name, nameCharsMax)}: the file must have the name ${fileName}`,
    )
  if (files.length > 1)
    return [
      `body.${fileName}: must be one file, not ${files.length}; send JSON to call an action with several images`,
    ]
  if (files.length === 1) return []
  return parts.some(({ name }) => name === fileName)
    ? [`body.${fileName}: must be a file, not text; curl sends one with -F ${fileName}=@photo.jpg`]
    : [`body.${fileName}: missing; must be a file of the form`]
}

type TextField = readonly [name: string, text: string]

/**
 * Returns the fields of the envelope and the correlation id of the image from texts. `params` is JSON.
 * Unknown fields stay in the body, where they are reported.
 *
 * @throws HttpError 400 for a repeated field, or if `params` is not a JSON object.
 */
function toOutline(texts: readonly TextField[], jsonLimits: JsonLimits) {
  const fields = new Map<string, string>()
  for (const [name, text] of texts) {
    if (fields.has(name))
      throw new HttpError(
        400,
        `The field ${toStorable(name, nameCharsMax)} is duplicated; send it once.`,
      )
    fields.set(name, text)
  }
  const { params: paramsText, correlationId, ...others } = Object.fromEntries(fields)
  const params =
    paramsText === undefined
      ? {}
      : parseJson(Buffer.from(paramsText), { ...jsonLimits, name: 'The field params' })
  const flags = ['debug', 'validateOnly'].flatMap((name) => {
    const text = fields.get(name)
    return text === undefined ? [] : [[name, toFlag(text)] as const]
  })
  const body = { ...others, ...Object.fromEntries(flags), params }
  return { body, correlationId }
}

function toImageItem({ bytes, contentType }: SentImage, correlationId: string | undefined): object {
  return {
    kind: 'image',
    bytes: bytes.toString('base64'),
    contentType,
    ...(correlationId !== undefined && { correlationId }),
  }
}

/** Any other text is reported as it is. */
function toFlag(text: string): boolean | string {
  return text === 'true' ? true : text === 'false' ? false : text
}
