/** Pixels in memory: 8-bit sRGB, interleaved R G B, row by row from the top, no padding. */
export type Frame = {
  /** px */
  readonly width: number
  readonly height: number
  /** width × height × 3 values, 0..255. */
  readonly pixels: Uint8Array
}

/** A decoded image with its EXIF orientation applied. */
export type OrientedImage = {
  /** Size of the whole oriented image, px. */
  readonly width: number
  readonly height: number
  readonly orientationApplied: boolean
  /** The whole image at the smallest size that face detection needs. */
  readonly frame: Frame
  /** px of the high-resolution frame per px of `frame`, ≥ 1. */
  readonly highResScale: number
  /** Returns the whole image with more pixels, for small faces; decoded at the first call. */
  readonly highResFrame: () => Promise<Frame>
}
