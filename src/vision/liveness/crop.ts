import type { Rect } from '../geometry.ts'
import { centre } from '../geometry.ts'
import type { PixelRect } from './cut-out.ts'

export type CropKind = 'stretched' | 'square'

type Size = { readonly width: number; readonly height: number }

/**
 * What of a frame an anti-spoofing network wants to see of the face in `box`.
 *
 * `stretched` (minivision's `CropImage`): the box scaled by `factor`, or by as much as the frame
 * allows, shifted back into the frame. `square`: a square of `factor` times the longer side about the
 * middle of the box, wherever it reaches.
 */
export function cropOf(kind: CropKind, box: Rect, factor: number, frame: Size): PixelRect {
  return kind === 'stretched' ? stretched(box, factor, frame) : square(box, factor)
}

/**
 * How many times the box could grow in both directions before it is larger than the frame: what
 * there is to see around the face, wherever in the frame it is.
 */
export function reachOf(box: Rect, frame: Size): number {
  return Math.min((frame.height - 1) / box.height, (frame.width - 1) / box.width)
}

function stretched(box: Rect, factor: number, frame: Size): PixelRect {
  const scale = Math.min(factor, reachOf(box, frame))
  const middle = centre(box)
  const across = inside(middle.x, box.width * scale, frame.width - 1)
  const down = inside(middle.y, box.height * scale, frame.height - 1)
  return { left: across.start, top: down.start, width: across.length, height: down.length }
}

/** A stretch of `length` about `middle`, shifted between 0 and `end`, in whole pixels. */
function inside(middle: number, length: number, end: number) {
  const start = Math.min(Math.max(0, middle - length / 2), Math.max(0, end - length))
  const first = Math.trunc(start)
  // Both ends are truncated and the last pixel counts, as in the original.
  return { start: first, length: Math.trunc(start + length) - first + 1 }
}

function square(box: Rect, factor: number): PixelRect {
  const side = Math.max(1, Math.trunc(factor * Math.max(box.width, box.height)))
  const middle = centre(box)
  return {
    left: Math.round(middle.x - side / 2),
    top: Math.round(middle.y - side / 2),
    width: side,
    height: side,
  }
}
