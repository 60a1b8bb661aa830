import { setImmediate as nextTurn } from 'node:timers/promises'
import { formType, mediaTypeOf, readBody, readJson } from '../../http/input/read-body.ts'
import { invalidRequest } from '../../lib/errors.ts'
import {
  acceptedContentTypes,
  contentTypeOf,
  type ExtraImageType,
  type ImageContentType,
} from '../../lib/image-types/image-types.ts'
import type { CompreFaceRequest } from '../serve-route.ts'
import { readMultipartFiles } from '../../http/input/multipart.ts'

/** An item of `params.images`. */
export type CompreFaceImage = {
  readonly kind: 'image'
  /** Base64. */
  readonly bytes: string
  readonly contentType: ImageContentType
}

/**
 * Reads the images of a body in the order of `names`: files of a form, or base64 in JSON.
 *
 * @throws HttpError 400, 413 or 415; ActionError INVALID_REQUEST with the name of a missing image.
 */
export async function readImages<const Names extends readonly string[]>(
  compreFaceRequest: CompreFaceRequest,
  names: Names,
): Promise<{ [Index in keyof Names]: CompreFaceImage }> {
  const isForm = mediaTypeOf(compreFaceRequest.request) === formType
  const imagesByName = isForm
    ? await imagesFromForm(compreFaceRequest)
    : await imagesFromJson(compreFaceRequest)
  const { extraImageTypes } = compreFaceRequest.options.services
  const images = names.map((name) => {
    const bytes = imagesByName.get(name)
    if (!bytes) throw invalidRequest(`body.${name}: missing; must be an image`)
    return { kind: 'image', bytes, contentType: declaredType(bytes, extraImageTypes) } as const
  })
  // `images` has one element per name.
  return images as unknown as { [Index in keyof Names]: CompreFaceImage }
}

async function imagesFromForm({ request, options }: CompreFaceRequest) {
  const bytes = await readBody(request, options.bodyBytesMax, formType)
  const files = readMultipartFiles(bytes, request.headers['content-type'] ?? '')
  await nextTurn()
  const images = new Map([...files].map(([name, file]) => [name, file.toString('base64')]))
  await nextTurn() // The images are hashed next: about 2 ms for each MiB.
  return images
}

async function imagesFromJson({ request, options }: CompreFaceRequest) {
  const body = await readJson(request, options)
  const texts = Object.entries(body).filter((entry): entry is [string, string] => {
    return typeof entry[1] === 'string'
  })
  return new Map(texts.map(([name, text]) => [name, text.replace(/^data:[^,]{0,64},/u, '')]))
}

/** The characters of base64 from which the type is detected. */
const headCharsMax = 256

/** Detects the type from the first bytes. The decoder rejects a type that the server does not accept. */
function declaredType(base64: string, extraTypes: readonly ExtraImageType[] | undefined) {
  const detected = contentTypeOf(Buffer.from(base64.slice(0, headCharsMax), 'base64'))
  const isAccepted = detected !== undefined && acceptedContentTypes(extraTypes).includes(detected)
  return isAccepted ? detected : 'image/jpeg'
}
