import { ActionError } from '../../../lib/errors.ts'
import { base64BytesMax, decodeBase64 } from './base64.ts'
import { readJpegHeader, readPngHeader } from './image-header.ts'
import { sniffFileType } from './sniff-file-type.ts'
import type { EncodedImage, ImageLimits } from '../../image-analysis.ts'

/**
 * The bytes of `picture`, fit to be decoded: the type that was declared, within `limits` by their
 * header alone, so that no bomb reaches the decoder.
 *
 * @param path JSON path of the picture in the request, for messages: `params.images[0]`.
 * @throws ActionError as `Pipeline.look` lists.
 */
export function validateImage(picture: EncodedImage, limits: ImageLimits, path: string): Buffer {
  const field = `${path}.bytes`
  if (base64BytesMax(picture.bytes) > limits.bytesMax)
    throw new ActionError('IMAGE_TOO_LARGE', `${field}: over ${limits.bytesMax} bytes`)
  const bytes = decodeBase64(picture.bytes)
  if (!bytes)
    throw new ActionError(
      'INVALID_REQUEST',
      `${field}: not base64 as RFC 4648 section 4 defines it (padded, no line breaks, no prefix)`,
    )
  checkHeader(bytes, checkType(bytes, picture.contentType, path), limits, field)
  return bytes
}

type DecodedType = 'JPEG' | 'PNG'

/**
 * More scans than this are made to keep a decoder busy: a progressive camera picture has about
 * ten, and every scan passes over all pixels.
 */
const scansMax = 100

function checkType(
  bytes: Buffer,
  contentType: EncodedImage['contentType'],
  path: string,
): DecodedType {
  if (bytes.length === 0) throw new ActionError('IMAGE_DECODE_FAILED', `${path}.bytes: empty`)
  const found = sniffFileType(bytes)
  if (!found)
    throw new ActionError('IMAGE_DECODE_FAILED', `${path}.bytes: not recognisable as an image`)
  if (found !== 'JPEG' && found !== 'PNG')
    throw new ActionError(
      'UNSUPPORTED_IMAGE_TYPE',
      `${path}.bytes: ${found} is not supported; send JPEG or PNG`,
    )
  const declared = contentType === 'image/png' ? 'PNG' : 'JPEG'
  if (found !== declared)
    throw new ActionError(
      'UNSUPPORTED_IMAGE_TYPE',
      `${path}.contentType: says ${contentType}, but the bytes are ${found}`,
    )
  return found
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
      `${field}: ${size} is over ${limits.pixelsMax} pixels in all`,
    )
  if (scans > scansMax)
    throw new ActionError('IMAGE_TOO_LARGE', `${field}: over ${scansMax} JPEG scans`)
  if (Math.min(width, height) < limits.sideMinPx)
    throw new ActionError(
      'IMAGE_TOO_SMALL',
      `${field}: ${size}, the shortest side must be at least ${limits.sideMinPx} px`,
    )
}
