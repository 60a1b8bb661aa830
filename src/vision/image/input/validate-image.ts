import { ActionError } from '../../../lib/errors.ts'
import { base64BytesMax, decodeBase64 } from './base64.ts'
import type { EncodedImage, ImageLimits } from './encoded-image.ts'
import { readJpegHeader, readPngHeader } from './image-header.ts'
import { exceededMetadataLimit, metadataBytesMax, metadataChunksMax } from './png-metadata.ts'
import { sniffFileType } from '../../../lib/image-types/sniff-file-type.ts'

/**
 * Returns the bytes of an image if they are of the declared type and within `limits`. Only the
 * header is read, so that a decompression bomb never reaches the decoder.
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
  checkHeader(bytes, checkType(bytes, image.contentType, path), limits, field)
  return bytes
}

type DecodedType = 'JPEG' | 'PNG'

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
  path: string,
): DecodedType {
  if (bytes.length === 0) throw new ActionError('IMAGE_DECODE_FAILED', `${path}.bytes: empty`)
  const type = sniffFileType(bytes)
  if (!type)
    throw new ActionError('IMAGE_DECODE_FAILED', `${path}.bytes: not recognisable as an image`)
  if (type !== 'JPEG' && type !== 'PNG')
    throw new ActionError(
      'UNSUPPORTED_IMAGE_TYPE',
      `${path}.bytes: ${type} is not supported; send JPEG or PNG`,
    )
  const declared = contentType === 'image/png' ? 'PNG' : 'JPEG'
  if (type !== declared)
    throw new ActionError(
      'UNSUPPORTED_IMAGE_TYPE',
      `${path}.contentType: is ${contentType}, but the bytes are ${type}`,
    )
  return type
}

function checkHeader(bytes: Buffer, type: DecodedType, limits: ImageLimits, field: string): void {
  const header = type === 'PNG' ? readPngHeader(bytes) : readJpegHeader(bytes)
  if (!header)
    throw new ActionError('IMAGE_DECODE_FAILED', `${field}: the ${type} header is damaged`)
  const { width, height, scans } = header
  const size = `${width}×${height} px`
  if (width * height > limits.pixelsMax)
    throw new ActionError(
      'IMAGE_TOO_LARGE',
      `${field}: ${size} exceeds the limit of ${limits.pixelsMax} pixels`,
    )
  const exceeded = type === 'PNG' ? exceededMetadataLimit(bytes) : undefined
  if (exceeded)
    throw new ActionError(
      'IMAGE_TOO_LARGE',
      `${field}: the texts and colour profiles of the PNG exceed ${metadataLimits[exceeded]}; remove them`,
    )
  if (scans > scansMax)
    throw new ActionError('IMAGE_TOO_LARGE', `${field}: over ${scansMax} JPEG scans`)
  if (Math.min(width, height) < limits.sideMinPx)
    throw new ActionError(
      'IMAGE_TOO_SMALL',
      `${field}: ${size}, the shortest side must be at least ${limits.sideMinPx} px`,
    )
}
