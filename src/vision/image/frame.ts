/** Pixels in memory: 8-bit sRGB, interleaved R G B, row by row from the top, no padding. */
export type Frame = {
  /** px */
  readonly width: number
  readonly height: number
  /** width × height × 3 values, 0..255. */
  readonly pixels: Uint8Array
}

/** An upright picture, as it is worked on. */
export type OrientedImage = {
  /** Size of the whole upright picture, px. */
  readonly width: number
  readonly height: number
  readonly orientationApplied: boolean
  /** The whole picture, as small as the search for faces allows. */
  readonly frame: Frame
  /** px of the finer frame per px of the frame, ≥ 1. */
  readonly highResScale: number
  /** The same with more pixels, for whoever looks closely; decoded when it is first asked for. */
  readonly highResFrame: () => Promise<Frame>
}
