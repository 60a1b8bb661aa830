import { ActionError, invalidRequest } from '../../../lib/errors.ts'
import type { ImageSize } from '../geometry.ts'
import { describeBase64Fault } from './base64-fault.ts'
import type { EncodedImage, ImageLimits } from './encoded-image.ts'
import {
  fourChannelPixelsMax,
  limitPixels,
  scanSamplesMax,
  sidePxMax,
  slowTypePixelsMax,
} from './pixel-limits.ts'
import { exceededMetadataLimit, hasTransparentColours, metadataLimits } from './png-metadata.ts'
import {
  acceptedFileTypes,
  fileTypeOf,
  sniffFileType,
} from '../../../lib/image-types/image-types.ts'

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
  if (!bytes) {
    const { fault, hint } = describeBase64Fault(image.bytes)
    const rule = 'must be base64 as RFC 4648 section 4 defines it'
    throw invalidRequest(`${field}: ${rule}; ${fault}`, { hint })
  }
  const type = checkType(bytes, image, limits, path)
  if (type === 'JPEG' || type === 'PNG') checkHeader(bytes, type, limits, field)
  return bytes
}

/**
 * Each scan has a cost, however small the image is. A file with more scans than this limit is built
 * to keep a decoder busy.
 */
const scansMax = 100

function checkType(bytes: Buffer, image: EncodedImage, limits: ImageLimits, path: string) {
  if (bytes.length === 0) throw new ActionError('IMAGE_DECODE_FAILED', `${path}.bytes: empty`)
  const type = sniffFileType(bytes)
  if (!type)
    throw new ActionError('IMAGE_DECODE_FAILED', `${path}.bytes: not recognisable as an image`)
  const acceptedTypes = acceptedFileTypes(limits.extraTypes)
  const accepted = acceptedTypes.find((name) => name === type)
  if (!accepted)
    throw new ActionError(
      'UNSUPPORTED_IMAGE_TYPE',
      `${path}.bytes: ${type} is not supported; send ${acceptedTypes.join(', ').replace(/, (?!.*, )/u, ' or ')}`,
    )
  if (accepted !== fileTypeOf(image.contentType))
    throw new ActionError(
      'UNSUPPORTED_IMAGE_TYPE',
      `${path}.contentType: is ${image.contentType}, but the bytes are ${type}`,
    )
  return accepted
}

function checkHeader(bytes: Buffer, type: 'JPEG' | 'PNG', limits: ImageLimits, field: string) {
  const header = type === 'PNG' ? readPngHeader(bytes) : readJpegHeader(bytes)
  if (!header)
    throw new ActionError('IMAGE_DECODE_FAILED', `${field}: the ${type} header is damaged`)
  const { scans, samples = 1, channels } = header
  const isSlow = type === 'PNG' && isSlowPng(bytes)
  const hasFour = type === 'PNG' ? isTransparentPng(bytes) : channels === 4
  const typeMax = isSlow ? slowTypePixelsMax : hasFour ? fourChannelPixelsMax : Infinity
  const scannedMax = scans > 1 ? Math.floor(scanSamplesMax / (scans * samples)) : Infinity
  requireImageSize(header, limitPixels(limits, Math.min(typeMax, scannedMax)), field)
  const exceeded = type === 'PNG' ? exceededMetadataLimit(bytes) : undefined
  if (exceeded)
    throw new ActionError(
      'IMAGE_TOO_LARGE',
      `${field}: the metadata of the PNG exceeds ${metadataLimits[exceeded]}; remove it`,
    )
  if (scans > scansMax)
    throw new ActionError('IMAGE_TOO_LARGE', `${field}: over ${scansMax} JPEG scans`)
}

/** @throws ActionError IMAGE_TOO_LARGE or IMAGE_TOO_SMALL. */
export function requireImageSize(size: ImageSize, limits: ImageLimits, field: string): void {
  const { width, height } = size
  const px = `${field}: ${width}×${height} px`
  if (Math.max(width, height) > sidePxMax)
    throw new ActionError(
      'IMAGE_TOO_LARGE',
      `${px}, the longest side must be at most ${sidePxMax} px`,
    )
  if (width * height > limits.pixelsMax)
    throw new ActionError(
      'IMAGE_TOO_LARGE',
      `${px} exceeds the limit of ${limits.pixelsMax} pixels for this type of image`,
    )
  if (Math.min(width, height) < limits.sideMinPx)
    throw new ActionError(
      'IMAGE_TOO_SMALL',
      `${px}, the shortest side must be at least ${limits.sideMinPx} px`,
    )
}

/** The facts that the header of an image states, read before any pixel is decoded. */
type ImageHeader = {
  /** px as stored, before any EXIF orientation. */
  readonly width: number
  readonly height: number
  /** Passes over all pixels: the scans of a JPEG, 1 for a PNG. */
  readonly scans: number
  /** Per pixel of a JPEG: 3 in 4:4:4, and at least 2, because a scan may omit the reduced colours. */
  readonly samples?: number
  /** 1 for grey, 3 for colours and 4 for CMYK; not of a PNG. */
  readonly channels?: number
}

/**
 * Reads the header of a PNG (ISO/IEC 15948). Returns `undefined` if the first chunk is not an IHDR of
 * 13 bytes, or if a side is 0.
 */
export function readPngHeader(bytes: Uint8Array): ImageHeader | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (bytes.length < 33 || view.getUint32(8) !== 13 || view.getUint32(12) !== ihdr) return undefined
  return nonEmpty({ width: view.getUint32(16), height: view.getUint32(20), scans: 1 })
}

/** Whether a valid header of a PNG states 16 bits per sample or interlacing. */
function isSlowPng(bytes: Uint8Array): boolean {
  const [depth, , , , interlacing] = bytes.subarray(24, 29)
  return depth === 16 || interlacing !== 0
}

function isTransparentPng(bytes: Uint8Array): boolean {
  return bytes[25] === rgbaColourType || hasTransparentColours(bytes)
}

/**
 * Reads the size and the number of scans from the segments of a JPEG (ITU-T T.81). A tiny file can
 * declare 65,535 × 65,535 pixels or thousands of scans. Both must be checked before it is decoded.
 * Bytes after the end-of-image marker are ignored. Returns `undefined` if the structure is broken, if
 * there is not exactly one frame header, or if a side is 0.
 */
export function readJpegHeader(bytes: Uint8Array): ImageHeader | undefined {
  let frame: Omit<ImageHeader, 'scans'> | undefined
  let scans = 0
  for (const { marker, data } of jpegSegments(bytes)) {
    if (isFrameHeader(marker)) {
      if (frame || data.length < 6) return undefined
      const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
      const [height, width, channels] = [view.getUint16(1), view.getUint16(3), view.getUint8(5)]
      frame = { height, width, channels, samples: Math.max(2, samplesPerPixel(data)) }
    }
    if (marker === startOfScan) scans++
  }
  return frame && scans > 0 ? nonEmpty({ ...frame, scans }) : undefined
}

/** Returns 3 for a frame header of 4:4:4, and 1.5 for 4:2:0: from the sampling factors of its components. */
function samplesPerPixel(frame: Uint8Array): number {
  const factors = [...frame.subarray(6)].filter((_, index) => index % 3 === 1)
  const areas = factors.map((factor) => (factor >> 4) * (factor & 15))
  return areas.reduce((sum, area) => sum + area, 0) / Math.max(1, ...areas)
}

const ihdr = 0x49_48_44_52
const rgbaColourType = 6
const startOfImage = 0xd8
const endOfImage = 0xd9
const startOfScan = 0xda

function nonEmpty(header: ImageHeader): ImageHeader | undefined {
  return header.width > 0 && header.height > 0 ? header : undefined
}

/** Yields the segments up to the end of the image, or up to the first incomplete one. */
export function* jpegSegments(bytes: Uint8Array) {
  // indexOf skips entropy-coded data at the speed of memchr.
  let offset = bytes.indexOf(0xff, 2)
  while (offset !== -1 && offset + 3 < bytes.length) {
    const marker = bytes[offset + 1] ?? 0
    if (marker === endOfImage) return
    if (hasNoLength(marker)) {
      offset = bytes.indexOf(0xff, offset + (marker === 0xff ? 1 : 2))
      continue
    }
    const end = offset + 2 + (((bytes[offset + 2] ?? 0) << 8) | (bytes[offset + 3] ?? 0))
    if (end > bytes.length) return
    yield { marker, data: bytes.subarray(offset + 4, end) }
    offset = bytes.indexOf(0xff, end)
  }
}

/** True for a stuffed zero, a fill byte, TEM, the restart markers RST0 to RST7 and start of image. */
function hasNoLength(marker: number): boolean {
  return marker <= 0x01 || marker === 0xff || (marker >= 0xd0 && marker <= startOfImage)
}

/** True for SOF0 to SOF15. DHT (C4), JPG (C8) and DAC (CC) are in the same range. */
function isFrameHeader(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
}

/**
 * Decodes base64 exactly as RFC 4648 section 4 defines it: standard alphabet, padded, no white
 * space, no `data:` prefix, unused bits zero. Returns `undefined` for any other text.
 *
 * `Buffer.from` skips invalid characters. Therefore the bytes are encoded again and compared: only
 * a canonical text equals the encoding of its bytes. This is faster than a regular expression.
 */
export function decodeBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : undefined
}

/** Returns the maximum number of bytes in a padded base64 text, without decoding it. */
export function base64BytesMax(text: string): number {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  return Math.floor(text.length / 4) * 3 - padding
}
