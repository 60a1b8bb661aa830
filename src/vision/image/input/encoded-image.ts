import type { ExtraImageType, ImageContentType } from '../../../lib/image-types/image-types.ts'

/** One image as the caller sent it. */
export type EncodedImage = {
  /** Base64 as RFC 4648 section 4, padded; validated by the worker that decodes it. */
  readonly bytes: string
  readonly contentType: ImageContentType
}

/** Limits of an image, checked against its header before any pixel is decoded. */
export type ImageLimits = {
  readonly bytesMax: number
  /** Width × height. */
  readonly pixelsMax: number
  /** The shorter side, px. */
  readonly sideMinPx: number
  /** The file types that are accepted in addition to JPEG and PNG; by default none. */
  readonly extraTypes?: readonly ExtraImageType[]
}
