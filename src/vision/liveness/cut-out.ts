import type { Frame } from '../frame.ts'
import type { Chip } from '../warp.ts'

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
export function cutOut(
  frame: Frame,
  rect: PixelRect,
  size: { readonly width: number; readonly height: number },
): Chip {
  const { width, height } = size
  const planes = new Float32Array(3 * width * height)
  const columns = stops(rect.left, rect.width, width)
  const rows = stops(rect.top, rect.height, height)
  const level = (x: number, y: number, channel: number): number =>
    x < 0 || y < 0 || x >= frame.width || y >= frame.height
      ? 0
      : (frame.pixels[(y * frame.width + x) * 3 + channel] ?? 0)
  for (let channel = 0, to = 0; channel < 3; channel++)
    for (const row of rows)
      for (const column of columns) {
        const upper = mix(
          level(column.from, row.from, channel),
          level(column.to, row.from, channel),
          column.share,
        )
        const lower = mix(
          level(column.from, row.to, channel),
          level(column.to, row.to, channel),
          column.share,
        )
        planes[to++] = mix(upper, lower, row.share)
      }
  return { width, height, planes }
}

/** Between which pixels each of `count` samples over `length` px from `start` lies, and where. */
function stops(start: number, length: number, count: number) {
  return Array.from({ length: count }, (_, index) => {
    // Pixels are their centres here, hence the halves; at the rim the outermost pixel goes on.
    const at = Math.min(length - 1, Math.max(0, ((index + 0.5) * length) / count - 0.5))
    const from = Math.floor(at)
    return {
      from: start + from,
      to: start + Math.min(length - 1, from + 1),
      share: at - from,
    }
  })
}

function mix(a: number, b: number, share: number): number {
  return a + (b - a) * share
}
