import { decodeFirstBytes, toBase64 } from './base64.ts'
import type { ImageItem } from '../contract.ts'
import { FacegateError } from '../facegate-error.ts'
import { sniffContentType, type ContentType } from './sniff-content-type.ts'

/** The bytes of a JPEG or PNG; a `Buffer` is a `Uint8Array`, a `File` is a `Blob`. */
export type ImageBytes = Uint8Array | ArrayBuffer | Blob

/** A picture with what is to be said of it. */
export type DescribedImage<Source> = {
  readonly kind?: 'image' | undefined
  /** Bytes, or base64 as it stands. */
  readonly bytes: Source | string
  /** Seen from the bytes when absent. */
  readonly contentType?: ContentType | undefined
  /** Comes back on the result of this image. */
  readonly correlationId?: string | undefined
}

export type Image = ImageBytes | DescribedImage<ImageBytes>

/** What differs between platforms: where else bytes may come from, and how they become text. */
export type Platform<Source> = {
  readonly read: (source: Source) => Promise<Uint8Array>
  readonly toBase64: (bytes: Uint8Array) => string
}

export const webPlatform: Platform<ImageBytes> = { read: readBytes, toBase64 }

/**
 * It asks what a thing can do and not what made it: test runners and frames have classes of their own.
 *
 * @throws TypeError when it is none of these.
 */
export async function readBytes(source: ImageBytes): Promise<Uint8Array> {
  if (ArrayBuffer.isView(source))
    return new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
  if (typeof source === 'object' && source !== null) {
    if (isBlob(source)) return new Uint8Array(await source.arrayBuffer())
    if (Object.prototype.toString.call(source) === '[object ArrayBuffer]')
      return new Uint8Array(source)
  }
  throw new TypeError('an image must be a Uint8Array, ArrayBuffer, Blob or { bytes }')
}

/**
 * An image as it is sent.
 *
 * @throws FacegateError UNSUPPORTED_IMAGE_TYPE, before anything is sent, when no type is given and
 *   the bytes are neither JPEG nor PNG.
 */
export async function toImageItem<Source>(
  image: Source | DescribedImage<Source>,
  platform: Platform<Source>,
): Promise<ImageItem> {
  if (!isDescribedImage(image)) return buildImageItem(await encode(image, platform), {})
  const { bytes } = image
  if (typeof bytes !== 'string') return buildImageItem(await encode(bytes, platform), image)
  return buildImageItem({ base64: bytes, start: decodeFirstBytes(bytes) }, image)
}

type Base64Bytes = { readonly base64: string; readonly start: Uint8Array }

async function encode<Source>(source: Source, platform: Platform<Source>): Promise<Base64Bytes> {
  const bytes = await platform.read(source)
  return { base64: platform.toBase64(bytes), start: bytes }
}

function buildImageItem(
  { base64, start }: Base64Bytes,
  { contentType = sniffContentType(start), correlationId }: Omit<DescribedImage<unknown>, 'bytes'>,
): ImageItem {
  if (!contentType)
    throw new FacegateError([
      { code: 'UNSUPPORTED_IMAGE_TYPE', message: 'the image is neither a JPEG nor a PNG' },
    ])
  const named = correlationId === undefined ? {} : { correlationId }
  return { kind: 'image', bytes: base64, contentType, ...named }
}

function isDescribedImage<Source>(
  image: Source | DescribedImage<Source>,
): image is DescribedImage<Source> {
  // New platforms give every Blob a method of that name.
  return typeof image === 'object' && image !== null && 'bytes' in image && !isBlob(image)
}

function isBlob(thing: object): thing is Blob {
  return 'arrayBuffer' in thing
}
