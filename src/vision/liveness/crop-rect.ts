import { unreachable } from '../../lib/validation/unreachable.ts'
import { centreOf, type BoundingBox, type ImageSize, type Rect } from '../image/geometry.ts'
import type { Frame } from '../image/decode.ts'
import type { PlanarCrop } from '../image/pyramid.ts'

type CropKind = 'stretched' | 'square'

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

/** Whole pixels of a frame. The rectangle can extend beyond the borders of the frame. */
type PixelRect = BoundingBox

/**
 * Resizes `rect` of `frame` to `size`, each side separately. The interpolation is bilinear as in
 * OpenCV's `resize`, without averaging when it shrinks, because these networks were trained on such
 * crops. Pixels outside the frame are black.
 */
export function cropAndResize(frame: Frame, rect: PixelRect, size: ImageSize): PlanarCrop {
  const { width, height } = size
  const planes = new Float32Array(3 * width * height)
  const columns = interpolationStops(rect.left, rect.width, { count: width, end: frame.width })
  const rows = interpolationStops(rect.top, rect.height, { count: height, end: frame.height })
  const { pixels } = frame
  const planeSize = width * height
  // No calls and no allocations: the loop runs over every pixel of every crop.
  for (let y = 0, index = 0; y < height; y++) {
    const upper = (rows.from[y] ?? 0) * frame.width
    const lower = (rows.to[y] ?? 0) * frame.width
    const upperWeight = rows.fromWeight[y] ?? 0
    const lowerWeight = rows.toWeight[y] ?? 0
    for (let x = 0; x < width; x++, index++) {
      const left = columns.from[x] ?? 0
      const right = columns.to[x] ?? 0
      const leftWeight = columns.fromWeight[x] ?? 0
      const rightWeight = columns.toWeight[x] ?? 0
      const i = (upper + left) * 3
      const j = (upper + right) * 3
      const k = (lower + left) * 3
      const l = (lower + right) * 3
      for (let plane = 0, to = index; plane < 3; plane++, to += planeSize)
        planes[to] =
          upperWeight *
            (leftWeight * (pixels[i + plane] ?? 0) + rightWeight * (pixels[j + plane] ?? 0)) +
          lowerWeight *
            (leftWeight * (pixels[k + plane] ?? 0) + rightWeight * (pixels[l + plane] ?? 0))
    }
  }
  return { width, height, planes }
}

/**
 * Returns the stops of `count` samples over `length` px from `start`. Pixels below 0 and from `end`
 * on have the weight 0.
 */
function interpolationStops(
  start: number,
  length: number,
  { count, end }: { readonly count: number; readonly end: number },
) {
  const from = new Int32Array(count)
  const to = new Int32Array(count)
  const fromWeight = new Float64Array(count)
  const toWeight = new Float64Array(count)
  const clamp = (pixel: number) => Math.min(end - 1, Math.max(0, pixel))
  const weightOf = (pixel: number) => (pixel === clamp(pixel) ? 1 : 0)
  for (let index = 0; index < count; index++) {
    // The halves convert between pixel edges and centres. Border pixels are repeated.
    const position = Math.min(length - 1, Math.max(0, ((index + 0.5) * length) / count - 0.5))
    const first = start + Math.floor(position)
    const second = Math.min(start + length - 1, first + 1)
    const share = position - Math.floor(position)
    from[index] = clamp(first)
    to[index] = clamp(second)
    fromWeight[index] = (1 - share) * weightOf(first)
    toWeight[index] = share * weightOf(second)
  }
  return { from, to, fromWeight, toWeight }
}
