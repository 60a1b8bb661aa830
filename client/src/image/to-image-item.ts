import { decodeFirstBytes, toBase64 } from './base64.ts'
import type { ImageItem } from '../contract.ts'
import { FacegateError, invalidArgument } from '../facegate-error.ts'
import { sniffContentType, type ContentType } from './sniff-content-type.ts'

/** The bytes of a JPEG or PNG. A `Buffer` is a `Uint8Array`, a `File` is a `Blob`. */
export type ImageBytes = Uint8Array | ArrayBuffer | Blob

/** An image with its type and its id. */
export type DescribedImage<Source> = {
  readonly kind?: 'image' | undefined
  /** Bytes, or text in base64. */
  readonly bytes: Source | string
  /** Default: detected from the bytes. */
  readonly contentType?: ContentType | undefined
  /** Returned with the result of this image. */
  readonly correlationId?: string | undefined
}

export type Image = ImageBytes | DescribedImage<ImageBytes>

/** The differences between platforms: how bytes are read and how they are encoded. */
export type Platform<Source> = {
  readonly read: (source: Source) => Promise<Uint8Array>
  readonly toBase64: (bytes: Uint8Array) => string
  /** The name of the file, for error messages; undefined if the source is no file. */
  readonly nameOf: (source: Source) => string | undefined
}

export const webPlatform: Platform<ImageBytes> = { read: readBytes, toBase64, nameOf: fileNameOf }

/**
 * Reads the bytes of an image. It checks the features of a value and not its class, because frames
 * and test runners have separate copies of the classes.
 *
 * @throws FacegateError INVALID_ARGUMENT when the value is not an image.
 */
export async function readBytes(source: ImageBytes): Promise<Uint8Array> {
  if (ArrayBuffer.isView(source))
    return new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
  if (typeof source === 'object' && source !== null) {
    if (isBlob(source)) return new Uint8Array(await source.arrayBuffer())
    if (Object.prototype.toString.call(source) === '[object ArrayBuffer]')
      return new Uint8Array(source)
  }
  throw invalidArgument('an image must be a Uint8Array, ArrayBuffer, Blob or { bytes }')
}

/** Returns the name of a `File`. */
export function fileNameOf(source: ImageBytes): string | undefined {
  if (typeof source !== 'object' || source === null || !('name' in source)) return undefined
  return typeof source.name === 'string' ? source.name : undefined
}

/**
 * Converts an image to its form in requests.
 *
 * @throws FacegateError UNSUPPORTED_IMAGE_TYPE, before anything is sent, if there is no content type
 *   and the bytes are neither JPEG nor PNG.
 */
export async function toImageItem<Source>(
  image: Source | DescribedImage<Source>,
  platform: Platform<Source>,
): Promise<ImageItem> {
  if (!isDescribedImage(image)) return encodeImage(image, {}, platform)
  const { bytes } = image
  if (typeof bytes !== 'string') return encodeImage(bytes, image, platform)
  return buildImageItem({ base64: bytes, firstBytes: decodeFirstBytes(bytes) }, image)
}

type Base64Bytes = { readonly base64: string; readonly firstBytes: Uint8Array }

async function encodeImage<Source>(
  source: Source,
  description: ImageDescription,
  platform: Platform<Source>,
): Promise<ImageItem> {
  const bytes = await platform.read(source)
  const encoded = { base64: platform.toBase64(bytes), firstBytes: bytes }
  return buildImageItem(encoded, description, platform.nameOf(source))
}

type ImageDescription = Omit<DescribedImage<unknown>, 'bytes'>

function buildImageItem(
  { base64, firstBytes }: Base64Bytes,
  { contentType = sniffContentType(firstBytes), correlationId }: ImageDescription,
  fileName = 'the image',
): ImageItem {
  if (!contentType)
    throw new FacegateError([
      { code: 'UNSUPPORTED_IMAGE_TYPE', message: `${fileName} is neither a JPEG nor a PNG` },
    ])
  const optional = correlationId === undefined ? {} : { correlationId }
  return { kind: 'image', bytes: base64, contentType, ...optional }
}

function isDescribedImage<Source>(
  image: Source | DescribedImage<Source>,
): image is DescribedImage<Source> {
  // Newer platforms give every Blob a method named `bytes`.
  return typeof image === 'object' && image !== null && 'bytes' in image && !isBlob(image)
}

function isBlob(value: object): value is Blob {
  return 'arrayBuffer' in value
}
