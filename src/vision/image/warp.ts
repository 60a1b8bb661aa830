import type { Frame } from './frame.ts'
import type { AffineTransform } from './similarity-transform.ts'

/** A small picture for a network: planar float32, all of R, then G, then B, 0..255. */
export type PlanarCrop = {
  /** px */
  readonly width: number
  readonly height: number
  /** 3 × height × width values. */
  readonly planes: Float32Array
}

/**
 * Samples a chip of `size` px from `frame`: chip point p shows the frame at `toFrame(p)`, both in
 * continuous coordinates. Bilinear between pixels; where the chip shrinks the picture, every chip
 * pixel is the mean of as many samples as it covers pixels across, so that fine texture does not
 * turn into noise. Beyond the border the nearest pixel goes on.
 */
export function warp(
  frame: Frame,
  toFrame: AffineTransform,
  size: { readonly width: number; readonly height: number },
): PlanarCrop {
  const { width, height } = size
  const chip: PlanarCrop = { width, height, planes: new Float32Array(3 * width * height) }
  const perSide = Math.min(samplesPerSideMax, Math.max(1, Math.round(shrinkFactor(toFrame))))
  for (let row = 0; row < perSide; row++)
    for (let column = 0; column < perSide; column++)
      addSamples(chip, frame, toFrame, {
        x: (column + 0.5) / perSide,
        y: (row + 0.5) / perSide,
        weight: 1 / perSide ** 2,
      })
  return chip
}

/** Frame pixels across one chip pixel. */
export function shrinkFactor({ a, b, d, e }: AffineTransform): number {
  return Math.sqrt(Math.abs(a * e - b * d))
}

/** Beyond a shrinkage of eight the chip hardly changes, and the cost grows with the square. */
const samplesPerSideMax = 8

type SubpixelSample = { readonly x: number; readonly y: number; readonly weight: number }

/**
 * Adds one weighted sample to every chip pixel, taken at (`sample.x`, `sample.y`) within it.
 * This loop is the only one in JavaScript over pixels of a face; it stays free of calls and
 * allocations, because it runs up to a million times per face.
 */
function addSamples(
  chip: PlanarCrop,
  frame: Frame,
  toFrame: AffineTransform,
  sample: SubpixelSample,
): void {
  const { pixels } = frame
  const { a, d } = toFrame
  const planes = chip.planes
  const planeSize = chip.width * chip.height
  const right = frame.width - 1
  const bottom = frame.height - 1
  const stride = frame.width * 3
  for (let row = 0, at = 0; row < chip.height; row++) {
    const y = row + sample.y
    // From continuous coordinates to pixel centres: half a pixel less.
    let u = toFrame.a * sample.x + toFrame.b * y + toFrame.c - 0.5
    let v = toFrame.d * sample.x + toFrame.e * y + toFrame.f - 0.5
    for (let column = 0; column < chip.width; column++, at++, u += a, v += d) {
      const x = u < 0 ? 0 : u > right ? right : u
      const z = v < 0 ? 0 : v > bottom ? bottom : v
      const left = x | 0
      const top = z | 0
      const i = top * stride + left * 3
      const j = left < right ? i + 3 : i
      const down = top < bottom ? stride : 0
      const k = i + down
      const l = j + down
      const toRight = x - left
      const toBottom = z - top
      const se = toRight * toBottom * sample.weight
      const ne = toRight * sample.weight - se
      const sw = toBottom * sample.weight - se
      const nw = sample.weight - ne - sw - se
      for (let plane = 0, to = at; plane < 3; plane++, to += planeSize) {
        const mixed =
          nw * (pixels[i + plane] ?? 0) +
          ne * (pixels[j + plane] ?? 0) +
          sw * (pixels[k + plane] ?? 0) +
          se * (pixels[l + plane] ?? 0)
        planes[to] = (planes[to] ?? 0) + mixed
      }
    }
  }
}
