import type { Rect } from '../image/geometry.ts'
import { centreOf } from '../image/geometry.ts'
import type { PixelRect } from './crop-resize.ts'

export type CropKind = 'stretched' | 'square'

type ImageSize = { readonly width: number; readonly height: number }

/**
 * What of a frame an anti-spoofing network wants to see of the face in `box`.
 *
 * `stretched` (minivision's `CropImage`): the box scaled by `factor`, or by as much as the frame
 * allows, shifted back into the frame. `square`: a square of `factor` times the longer side about the
 * middle of the box, wherever it reaches.
 */
export function cropRect(kind: CropKind, box: Rect, factor: number, frame: ImageSize): PixelRect {
  return kind === 'stretched' ? stretchedRect(box, factor, frame) : squareRect(box, factor)
}

/**
 * How many times the box could grow in both directions before it is larger than the frame: what
 * there is to see around the face, wherever in the frame it is.
 */
export function cropFactorMax(box: Rect, frame: ImageSize): number {
  return Math.min((frame.height - 1) / box.height, (frame.width - 1) / box.width)
}

function stretchedRect(box: Rect, factor: number, frame: ImageSize): PixelRect {
  const scale = Math.min(factor, cropFactorMax(box, frame))
  const middle = centreOf(box)
  const across = fitInside(middle.x, box.width * scale, frame.width - 1)
  const down = fitInside(middle.y, box.height * scale, frame.height - 1)
  return { left: across.start, top: down.start, width: across.length, height: down.length }
}

/** A stretch of `length` about `middle`, shifted between 0 and `end`, in whole pixels. */
function fitInside(middle: number, length: number, end: number) {
  const start = Math.min(Math.max(0, middle - length / 2), Math.max(0, end - length))
  const first = Math.trunc(start)
  // Both ends are truncated and the last pixel counts, as in the original.
  return { start: first, length: Math.trunc(start + length) - first + 1 }
}

function squareRect(box: Rect, factor: number): PixelRect {
  const side = Math.max(1, Math.trunc(factor * Math.max(box.width, box.height)))
  const middle = centreOf(box)
  return {
    left: Math.round(middle.x - side / 2),
    top: Math.round(middle.y - side / 2),
    width: side,
    height: side,
  }
}
