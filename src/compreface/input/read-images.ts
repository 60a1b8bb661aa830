import { mediaTypeOf, readBody } from '../../http/input/read-body.ts'
import { parseJson } from '../../http/input/parse-json.ts'
import { ActionError } from '../../lib/errors.ts'
import { readMultipartFiles } from './multipart.ts'
import type { CompreFaceRequest } from '../serve-route.ts'

/** An item of `params.images`. */
export type CompreFaceImage = {
  readonly kind: 'image'
  /** Base64. */
  readonly bytes: string
  readonly contentType: 'image/jpeg' | 'image/png'
}

/**
 * The pictures of a body, in the order of their names: files of a form, or base64 in JSON.
 *
 * @throws HttpError 400, 413 or 415; ActionError INVALID_REQUEST that names the missing one.
 */
export async function readImages<const Names extends readonly string[]>(
  asked: CompreFaceRequest,
  names: Names,
): Promise<{ [Index in keyof Names]: CompreFaceImage }> {
  const isForm = mediaTypeOf(asked.request) === 'multipart/form-data'
  const found = isForm ? await imagesFromForm(asked) : await imagesFromJson(asked)
  const pictures = names.map((name) => {
    const bytes = found.get(name)
    if (!bytes) throw new ActionError('INVALID_REQUEST', `${name}: the picture is missing`)
    return { kind: 'image', bytes, contentType: contentTypeOf(bytes) } as const
  })
  // One for each name.
  return pictures as unknown as { [Index in keyof Names]: CompreFaceImage }
}

async function imagesFromForm({
  request,
  options,
}: CompreFaceRequest): Promise<Map<string, string>> {
  const bytes = await readBody(request, options.bodyBytesMax, 'multipart/form-data')
  const files = readMultipartFiles(bytes, request.headers['content-type'] ?? '')
  return new Map([...files].map(([name, file]) => [name, file.toString('base64')]))
}

async function imagesFromJson({
  request,
  options,
}: CompreFaceRequest): Promise<Map<string, string>> {
  const body = parseJson(await readBody(request, options.bodyBytesMax), options.jsonLimits)
  const texts = Object.entries(body).filter((entry): entry is [string, string] => {
    return typeof entry[1] === 'string'
  })
  return new Map(texts.map(([name, text]) => [name, text.replace(/^data:[^,]{0,64},/u, '')]))
}

/** By the signature of PNG in base64; whatever is neither is refused where pictures are decoded. */
function contentTypeOf(base64: string): CompreFaceImage['contentType'] {
  return base64.startsWith('iVBORw0KGgo') ? 'image/png' : 'image/jpeg'
}
