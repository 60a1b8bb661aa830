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

/**
 * Frees the memory of pixels or values at once. The garbage collector would free it after many more
 * images. The array is empty afterwards. A view of a part of a buffer is left alone.
 */
export function releaseArray({ buffer, byteLength }: Uint8Array | Float32Array): void {
  const isWhole = byteLength === buffer.byteLength
  if (isWhole && buffer instanceof ArrayBuffer && !buffer.detached) buffer.transfer(0)
}
