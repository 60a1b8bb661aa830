import type { Frame } from '../image/frame.ts'
import type { PlanarCrop } from '../image/warp.ts'

/** Whole pixels of a frame; it may reach beyond the frame's borders. */
export type PixelRect = {
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
}

/**
 * `rect` of `frame`, its sides stretched to `size`: plain bilinear as OpenCV's `resize` does it, also
 * where it shrinks, because that is what these networks were trained on; black beyond the frame.
 */
export function cropAndResize(
  frame: Frame,
  rect: PixelRect,
  size: { readonly width: number; readonly height: number },
): PlanarCrop {
  const { width, height } = size
  const planes = new Float32Array(3 * width * height)
  const columns = interpolationStops(rect.left, rect.width, { count: width, end: frame.width })
  const rows = interpolationStops(rect.top, rect.height, { count: height, end: frame.height })
  const { pixels } = frame
  const planeSize = width * height
  // Free of calls and allocations: it runs over every pixel of every crop.
  for (let y = 0, to = 0; y < height; y++) {
    const upper = (rows.from[y] ?? 0) * frame.width
    const lower = (rows.to[y] ?? 0) * frame.width
    const ofUpper = rows.ofFrom[y] ?? 0
    const ofLower = rows.ofTo[y] ?? 0
    for (let x = 0; x < width; x++, to++) {
      const left = columns.from[x] ?? 0
      const right = columns.to[x] ?? 0
      const ofLeft = columns.ofFrom[x] ?? 0
      const ofRight = columns.ofTo[x] ?? 0
      const i = (upper + left) * 3
      const j = (upper + right) * 3
      const k = (lower + left) * 3
      const l = (lower + right) * 3
      for (let plane = 0, at = to; plane < 3; plane++, at += planeSize)
        planes[at] =
          ofUpper * (ofLeft * (pixels[i + plane] ?? 0) + ofRight * (pixels[j + plane] ?? 0)) +
          ofLower * (ofLeft * (pixels[k + plane] ?? 0) + ofRight * (pixels[l + plane] ?? 0))
    }
  }
  return { width, height, planes }
}

/** Between which two pixels of a row or column each sample lies, and what each of them counts. */
type InterpolationStops = {
  readonly from: Int32Array
  readonly to: Int32Array
  readonly ofFrom: Float64Array
  readonly ofTo: Float64Array
}

/** `count` samples over `length` px from `start`; pixels below 0 and from `end` on count nothing. */
function interpolationStops(
  start: number,
  length: number,
  { count, end }: { readonly count: number; readonly end: number },
): InterpolationStops {
  const from = new Int32Array(count)
  const to = new Int32Array(count)
  const ofFrom = new Float64Array(count)
  const ofTo = new Float64Array(count)
  const place = (pixel: number) => Math.min(end - 1, Math.max(0, pixel))
  const counts = (pixel: number) => (pixel === place(pixel) ? 1 : 0)
  for (let index = 0; index < count; index++) {
    // Pixels are their centres here, hence the halves; at the rim the outermost pixel goes on.
    const at = Math.min(length - 1, Math.max(0, ((index + 0.5) * length) / count - 0.5))
    const first = start + Math.floor(at)
    const second = Math.min(start + length - 1, first + 1)
    const share = at - Math.floor(at)
    from[index] = place(first)
    to[index] = place(second)
    ofFrom[index] = (1 - share) * counts(first)
    ofTo[index] = share * counts(second)
  }
  return { from, to, ofFrom, ofTo }
}
