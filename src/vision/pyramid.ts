import { resize } from './decode.ts'
import type { Frame } from './frame.ts'
import type { Affine } from './similarity.ts'
import { shrinkOf, warp } from './warp.ts'
import type { Chip } from './warp.ts'

/** A frame together with smaller versions of itself, made when they are first needed. */
export type Pyramid = {
  readonly frame: Frame
  /** A chip as `warp` gives it, from the version that fits. */
  readonly sample: (
    toFrame: Affine,
    size: { readonly width: number; readonly height: number },
  ) => Promise<Chip>
}

/**
 * A near face covers hundreds of pixels a side and is looked at in a chip of 112 or 192. Averaging
 * so many samples per pixel in JavaScript cost more than the networks; libvips halves the frame in
 * 2 ms, and what is left to shrink lies between 0.9 and 1.8.
 */
export function createPyramid(frame: Frame): Pyramid {
  const levels = new Map<number, Promise<Frame>>()
  return {
    frame,
    async sample(toFrame, size) {
      const halvings = Math.max(0, Math.floor(Math.log2(shrinkOf(toFrame) / 0.9)))
      if (halvings === 0) return warp(frame, toFrame, size)
      const level = levels.get(halvings) ?? smaller(frame, 2 ** halvings)
      levels.set(halvings, level)
      return warp(await level, scaled(toFrame, frame, await level), size)
    },
  }
}

function smaller(frame: Frame, factor: number): Promise<Frame> {
  const width = Math.max(1, Math.round(frame.width / factor))
  const height = Math.max(1, Math.round(frame.height / factor))
  return resize(frame, width, height)
}

function scaled({ a, b, c, d, e, f }: Affine, from: Frame, to: Frame): Affine {
  const x = to.width / from.width
  const y = to.height / from.height
  return { a: a * x, b: b * x, c: c * x, d: d * y, e: e * y, f: f * y }
}
