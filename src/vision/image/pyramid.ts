import type { Frame, OrientedImage } from './frame.ts'
import { downscale2x } from './downscale-2x.ts'
import type { AffineTransform } from './similarity-transform.ts'
import { shrinkFactor, warp } from './warp.ts'
import type { PlanarCrop } from './warp.ts'

/** A picture in several sizes, each made when it is first needed. */
export type ImagePyramid = {
  /** A chip as `warp` gives it, from the size that fits; `toFrame` is in the frame's coordinates. */
  readonly sample: (
    toFrame: AffineTransform,
    size: { readonly width: number; readonly height: number },
  ) => Promise<PlanarCrop>
  /** The smallest size of the whole frame, halved again and again, that is at least this scale. */
  readonly levelForScale: (scale: number) => Frame
}

/**
 * A near face covers hundreds of pixels a side and is looked at in a chip of 112 or 192. Averaging
 * so many samples per pixel in JavaScript cost more than the networks; halving the whole frame
 * takes 1 ms, and what is left to shrink lies between 0.9 and 1.8. A face so small that a chip would
 * magnify it is sampled from the finer frame.
 */
export function createImagePyramid({
  frame,
  highResFrame: finer,
}: Pick<OrientedImage, 'frame' | 'highResFrame'>): ImagePyramid {
  const levels = new Map([[0, frame]])

  /** Each half of the one before: a quarter of the frame costs a quarter of halving it. */
  function halved(times: number): Frame {
    const level = levels.get(times) ?? downscale2x(halved(times - 1))
    levels.set(times, level)
    return level
  }

  return {
    async sample(toFrame, size) {
      const times = Math.floor(Math.log2(shrinkFactor(toFrame) / shrinkMin))
      const level = times < 0 ? await finer() : halved(times)
      return warp(level, scaleTransform(toFrame, frame, level), size)
    },
    levelForScale: (scale) => halved(Math.max(0, Math.floor(-Math.log2(scale)))),
  }
}

/** Below it a chip would magnify what it shows. */
const shrinkMin = 0.9

function scaleTransform(
  { a, b, c, d, e, f }: AffineTransform,
  from: Frame,
  to: Frame,
): AffineTransform {
  const x = to.width / from.width
  const y = to.height / from.height
  return { a: a * x, b: b * x, c: c * x, d: d * y, e: e * y, f: f * y }
}
