/** One image as the caller sent it. */
export type EncodedImage = {
  /** Base64 as RFC 4648 section 4, padded; validated by the worker that decodes it. */
  readonly bytes: string
  readonly contentType: 'image/jpeg' | 'image/jpg' | 'image/png'
}

/** Limits of an image, checked against its header before any pixel is decoded. */
export type ImageLimits = {
  readonly bytesMax: number
  /** Width × height. */
  readonly pixelsMax: number
  /** The shorter side, px. */
  readonly sideMinPx: number
}
