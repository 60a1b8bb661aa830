import { unreachable } from '../../lib/validation/unreachable.ts'
import { centreOf } from '../image/geometry.ts'
import type { ImageSize, Rect } from '../image/geometry.ts'
import type { PixelRect } from './crop-resize.ts'

export type CropKind = 'stretched' | 'square'

/**
 * Returns the part of a frame that an anti-spoofing network needs for the face in `box`.
 *
 * - `stretched` (minivision's `CropImage`): the box scaled by `factor`, limited to the size of the
 *   frame and shifted into the frame.
 * - `square`: a square around the centre of the box, with `factor` times its longer side; it can
 *   extend beyond the frame.
 */
export function cropRect(kind: CropKind, box: Rect, factor: number, frame: ImageSize): PixelRect {
  switch (kind) {
    case 'stretched':
      return stretchedRect(box, factor, frame)
    case 'square':
      return squareRect(box, factor)
    default:
      return unreachable(kind)
  }
}

/**
 * Returns the largest factor by which the box can be scaled without exceeding the size of the frame.
 * It measures how much of the surroundings is available, wherever in the frame the face is.
 */
export function cropFactorMax(box: Rect, frame: ImageSize): number {
  return Math.min((frame.height - 1) / box.height, (frame.width - 1) / box.width)
}

function stretchedRect(box: Rect, factor: number, frame: ImageSize): PixelRect {
  const scale = Math.min(factor, cropFactorMax(box, frame))
  const centre = centreOf(box)
  const horizontal = fitInside(centre.x, box.width * scale, frame.width - 1)
  const vertical = fitInside(centre.y, box.height * scale, frame.height - 1)
  return {
    left: horizontal.start,
    top: vertical.start,
    width: horizontal.length,
    height: vertical.length,
  }
}

/** Returns a range of `length` around `centre`, shifted into 0..`end`, in whole pixels. */
function fitInside(centre: number, length: number, end: number) {
  const start = Math.min(Math.max(0, centre - length / 2), Math.max(0, end - length))
  const first = Math.trunc(start)
  // As in the original: both ends are truncated, and the last pixel is included.
  return { start: first, length: Math.trunc(start + length) - first + 1 }
}

function squareRect(box: Rect, factor: number): PixelRect {
  const side = Math.max(1, Math.trunc(factor * Math.max(box.width, box.height)))
  const centre = centreOf(box)
  return {
    left: Math.round(centre.x - side / 2),
    top: Math.round(centre.y - side / 2),
    width: side,
    height: side,
  }
}
