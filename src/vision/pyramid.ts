import { resize } from './decode.ts'
import type { Frame, Upright } from './frame.ts'
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
}

/**
 * A near face covers hundreds of pixels a side and is looked at in a chip of 112 or 192. Averaging
 * so many samples per pixel in JavaScript cost more than the networks; libvips halves the frame in
 * 2 ms, and what is left to shrink lies between 0.9 and 1.8. A face so small that a chip would
 * magnify it is sampled from the finer frame.
 */
export function createPyramid({ frame, finer }: Pick<Upright, 'frame' | 'finer'>): Pyramid {
  const levels = new Map<number, Promise<Frame>>()
  return {
    async sample(toFrame, size) {
      const halvings = Math.floor(Math.log2(shrinkOf(toFrame) / shrinkMin))
      const key = Math.max(-1, halvings)
      const made = levels.get(key) ?? (key < 0 ? finer() : smaller(frame, 2 ** key))
      levels.set(key, made)
      const level = await made
      return warp(level, scaled(toFrame, frame, level), size)
    },
  }
}

/** Below it a chip would magnify what it shows. */
const shrinkMin = 0.9

async function smaller(frame: Frame, factor: number): Promise<Frame> {
  if (factor === 1) return frame
  const width = Math.max(1, Math.round(frame.width / factor))
  const height = Math.max(1, Math.round(frame.height / factor))
  return resize(frame, width, height)
}

function scaled({ a, b, c, d, e, f }: Affine, from: Frame, to: Frame): Affine {
  const x = to.width / from.width
  const y = to.height / from.height
  return { a: a * x, b: b * x, c: c * x, d: d * y, e: e * y, f: f * y }
}
