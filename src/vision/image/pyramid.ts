import type { Frame, OrientedImage } from './decode.ts'
import type { ImageSize, AffineTransform } from './geometry.ts'
import { halveFrame, sampleFrame, type CropLevels } from './kernel/image-kernel.ts'

/** One image in several sizes. Each size is created at its first use. */
export type ImagePyramid = ReturnType<typeof createImagePyramid>

/**
 * A near face covers hundreds of pixels a side, but a crop has only 112 or 192. Averaging that many
 * samples per pixel in JavaScript cost more than the networks. Halving the whole frame takes 1 ms,
 * and the remaining shrink factor is between 0.9 and 1.8. A face that is smaller than its crop is
 * sampled from the high-resolution frame.
 */
export function createImagePyramid({
  frame,
  highResFrame,
}: Pick<OrientedImage, 'frame' | 'highResFrame'>) {
  const levels = new Map([[0, frame]])
  const crops: PlanarCrop[] = []

  async function openHighRes(): Promise<Frame> {
    const highRes = await highResFrame()
    levels.set(highResIndex, highRes)
    return highRes
  }

  /** Creates each level from the previous one: every further level costs a quarter as much. */
  function levelAt(index: number): Frame {
    const level = levels.get(index) ?? halveFrame(levelAt(index - 1))
    levels.set(index, level)
    return level
  }

  return {
    /** The first and largest size. */
    frame,
    /** Returns a crop as `warp` does, sampled from the best size; `toFrame` refers to the frame. */
    async sample(toFrame: AffineTransform, size: ImageSize): Promise<PlanarCrop> {
      const index = Math.floor(Math.log2(shrinkFactor(toFrame) / shrinkMin))
      const level = index < 0 ? await openHighRes() : levelAt(index)
      const crop = warp(level, scaleTransform(toFrame, frame, level), size)
      crops.push(crop)
      return crop
    },
    /** Returns the whole frame, halved as often as possible while its scale is at least `scale`. */
    levelForScale: (scale: number) => levelAt(Math.max(0, Math.floor(-Math.log2(scale)))),
    /** Frees the memory of all sizes and crops, which are empty afterwards. */
    release(): void {
      levels.forEach(({ pixels }) => releaseArray(pixels))
      for (const { planes } of crops) releaseArray(planes)
    },
  }
}

/**
 * Frees the memory of pixels or values at once. The garbage collector would free it after many more
 * images. The array is empty afterwards. A view of a part of a buffer is left alone.
 */
function releaseArray({ buffer, byteLength }: Uint8Array | Float32Array): void {
  const isWhole = byteLength === buffer.byteLength
  if (isWhole && buffer instanceof ArrayBuffer && !buffer.detached) buffer.transfer(0)
}

/** The index of the high-resolution frame among the levels, once it is opened. */
const highResIndex = -1

/** Below this shrink factor a crop would magnify the image. */
const shrinkMin = 0.9

function scaleTransform({ a, b, c, d, e, f }: AffineTransform, from: Frame, to: Frame) {
  const x = to.width / from.width
  const y = to.height / from.height
  return { a: a * x, b: b * x, c: c * x, d: d * y, e: e * y, f: f * y }
}

/** Returns the pyramid of a frame that is not available with more pixels. */
export function framePyramid(frame: Frame): ImagePyramid {
  return createImagePyramid({ frame, highResFrame: () => Promise.resolve(frame) })
}

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
