import type { Frame, Upright } from './frame.ts'
import { halve } from './halve.ts'
import type { Affine } from './similarity.ts'
import { shrinkOf, warp } from './warp.ts'
import type { Chip } from './warp.ts'

/** A picture in several sizes, each made when it is first needed. */
export type Pyramid = {
  /** A chip as `warp` gives it, from the size that fits; `toFrame` is in the frame's coordinates. */
  readonly sample: (
    toFrame: Affine,
    size: { readonly width: number; readonly height: number },
  ) => Promise<Chip>
  /** The smallest size of the whole frame, halved again and again, that is at least this scale. */
  readonly atLeast: (scale: number) => Frame
}

/**
 * A near face covers hundreds of pixels a side and is looked at in a chip of 112 or 192. Averaging
 * so many samples per pixel in JavaScript cost more than the networks; halving the whole frame
 * takes 1 ms, and what is left to shrink lies between 0.9 and 1.8. A face so small that a chip would
 * magnify it is sampled from the finer frame.
 */
export function createPyramid({ frame, finer }: Pick<Upright, 'frame' | 'finer'>): Pyramid {
  const levels = new Map([[0, frame]])

  /** Each half of the one before: a quarter of the frame costs a quarter of halving it. */
  function halved(times: number): Frame {
    const level = levels.get(times) ?? halve(halved(times - 1))
    levels.set(times, level)
    return level
  }

  return {
    async sample(toFrame, size) {
      const times = Math.floor(Math.log2(shrinkOf(toFrame) / shrinkMin))
      const level = times < 0 ? await finer() : halved(times)
      return warp(level, scaled(toFrame, frame, level), size)
    },
    atLeast: (scale) => halved(Math.max(0, Math.floor(-Math.log2(scale)))),
  }
}

/** Below it a chip would magnify what it shows. */
const shrinkMin = 0.9

function scaled({ a, b, c, d, e, f }: Affine, from: Frame, to: Frame): Affine {
  const x = to.width / from.width
  const y = to.height / from.height
  return { a: a * x, b: b * x, c: c * x, d: d * y, e: e * y, f: f * y }
}
