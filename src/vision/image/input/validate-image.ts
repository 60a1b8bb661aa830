import { ActionError } from '../../../lib/errors.ts'
import { base64BytesMax, decodeBase64 } from './base64.ts'
import type { ImageSize } from '../geometry.ts'
import type { EncodedImage, ImageLimits } from './encoded-image.ts'
import { readJpegHeader, readPngHeader } from './image-header.ts'
import { exceededMetadataLimit, metadataBytesMax, metadataChunksMax } from './png-metadata.ts'
import {
  acceptedFileTypes,
  fileTypeOf,
  type ExtraImageType,
  type ImageFileType,
} from '../../../lib/image-types/image-types.ts'
import { sniffFileType } from '../../../lib/image-types/sniff-file-type.ts'

/**
 * Returns the bytes of an image if they are of the declared type and within `limits`. Only the
 * header is read, so that a decompression bomb never reaches the decoder. `checkExtraHeader` reads the
 * headers of extra types.
 *
 * @param path JSON path of the image in the API request, for messages: `params.images[0]`.
 * @throws ActionError the codes that `Pipeline.analyzeImage` lists.
 */
export function validateImage(image: EncodedImage, limits: ImageLimits, path: string): Buffer {
  const field = `${path}.bytes`
  if (base64BytesMax(image.bytes) > limits.bytesMax)
    throw new ActionError('IMAGE_TOO_LARGE', `${field}: over ${limits.bytesMax} bytes`)
  const bytes = decodeBase64(image.bytes)
  if (!bytes)
    throw new ActionError(
      'INVALID_REQUEST',
      `${field}: not base64 as RFC 4648 section 4 defines it (padded, no line breaks, no prefix)`,
    )
  const type = checkType(bytes, image.contentType, { path, extraTypes: limits.extraTypes })
  if (type === 'JPEG' || type === 'PNG') checkHeader(bytes, type, limits, field)
  return bytes
}

type HeaderType = 'JPEG' | 'PNG'

/**
 * A progressive photograph of a camera has about ten scans, and every scan passes over all pixels.
 * A file with more scans than this limit is built to keep a decoder busy.
 */
const scansMax = 100

const metadataLimits = {
  chunks: `${metadataChunksMax} chunks`,
  bytes: `${metadataBytesMax} bytes when inflated`,
}

function checkType(
  bytes: Buffer,
  contentType: EncodedImage['contentType'],
  { path, extraTypes }: TypeCheck,
): ImageFileType {
  if (bytes.length === 0) throw new ActionError('IMAGE_DECODE_FAILED', `${path}.bytes: empty`)
  const type = sniffFileType(bytes)
  if (!type)
    throw new ActionError('IMAGE_DECODE_FAILED', `${path}.bytes: not recognisable as an image`)
  const acceptedTypes = acceptedFileTypes(extraTypes)
  const accepted = acceptedTypes.find((name) => name === type)
  if (!accepted)
    throw new ActionError(
      'UNSUPPORTED_IMAGE_TYPE',
      `${path}.bytes: ${type} is not supported; send ${acceptedTypes.join(', ').replace(/, (?!.*, )/u, ' or ')}`,
    )
  if (accepted !== fileTypeOf(contentType))
    throw new ActionError(
      'UNSUPPORTED_IMAGE_TYPE',
      `${path}.contentType: is ${contentType}, but the bytes are ${type}`,
    )
  return accepted
}

type TypeCheck = {
  readonly path: string
  readonly extraTypes: readonly ExtraImageType[] | undefined
}

function checkHeader(bytes: Buffer, type: HeaderType, limits: ImageLimits, field: string): void {
  const header = type === 'PNG' ? readPngHeader(bytes) : readJpegHeader(bytes)
  if (!header)
    throw new ActionError('IMAGE_DECODE_FAILED', `${field}: the ${type} header is damaged`)
  requireFewPixels(header, limits, field)
  const exceeded = type === 'PNG' ? exceededMetadataLimit(bytes) : undefined
  if (exceeded)
    throw new ActionError(
      'IMAGE_TOO_LARGE',
      `${field}: the texts and colour profiles of the PNG exceed ${metadataLimits[exceeded]}; remove them`,
    )
  if (header.scans > scansMax)
    throw new ActionError('IMAGE_TOO_LARGE', `${field}: over ${scansMax} JPEG scans`)
  requireLongSides(header, limits, field)
}

/** @throws ActionError IMAGE_TOO_LARGE or IMAGE_TOO_SMALL. */
export function requireImageSize(size: ImageSize, limits: ImageLimits, field: string): void {
  requireFewPixels(size, limits, field)
  requireLongSides(size, limits, field)
}

function requireFewPixels({ width, height }: ImageSize, limits: ImageLimits, field: string): void {
  if (width * height <= limits.pixelsMax) return
  throw new ActionError(
    'IMAGE_TOO_LARGE',
    `${field}: ${width}×${height} px exceeds the limit of ${limits.pixelsMax} pixels`,
  )
}

function requireLongSides({ width, height }: ImageSize, limits: ImageLimits, field: string): void {
  if (Math.min(width, height) >= limits.sideMinPx) return
  throw new ActionError(
    'IMAGE_TOO_SMALL',
    `${field}: ${width}×${height} px, the shortest side must be at least ${limits.sideMinPx} px`,
  )
}
