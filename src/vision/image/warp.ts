import type { Frame } from './frame.ts'
import type { ImageSize } from './geometry.ts'
import { sampleFrame, type CropLevels } from './kernel/image-kernel.ts'
import type { AffineTransform } from './similarity-transform.ts'

/** A small image for a network: planar float32, all of R, then G, then B, 0..255. */
export type PlanarCrop = {
  /** px */
  readonly width: number
  readonly height: number
  /** 3 × height × width values. */
  readonly planes: Float32Array
}

/**
 * Samples a crop of `size` px from `frame`. Crop point p shows the frame at `toFrame(p)`, both in
 * continuous coordinates. Interpolation is bilinear. If the crop shrinks the frame by a factor n,
 * every crop pixel is the mean of n × n samples, so that fine texture does not turn into noise.
 * Beyond the border the nearest pixel is repeated.
 *
 * @param size of the crop; with `levels`, the values are those of the input of a network.
 */
export function warp(
  frame: Frame,
  toFrame: AffineTransform,
  { width, height, levels }: ImageSize & { readonly levels?: CropLevels },
): PlanarCrop {
  const samplesPerSide = Math.min(samplesPerSideMax, Math.max(1, Math.round(shrinkFactor(toFrame))))
  const planes = sampleFrame(frame, toFrame, { width, height, samplesPerSide, levels })
  return { width, height, planes }
}

/** Returns the number of frame pixels along the side of one crop pixel. */
export function shrinkFactor({ a, b, d, e }: AffineTransform): number {
  return Math.sqrt(Math.abs(a * e - b * d))
}

/** Above a shrink factor of eight the crop hardly changes, and the cost grows with the square. */
const samplesPerSideMax = 8
