import type { Frame } from './frame.ts'
import type { ImageSize } from './geometry.ts'
import type { AffineTransform } from './similarity-transform.ts'

/** A small image for a network: planar float32, all of R, then G, then B, 0..255. */
export type PlanarCrop = {
  /** px */
  readonly width: number
  readonly height: number
  /** 3 × height × width values. */
  readonly planes: Float32Array
}

/**
 * Samples a crop of `size` px from `frame`. Crop point p shows the frame at `toFrame(p)`, both in
 * continuous coordinates. Interpolation is bilinear. If the crop shrinks the frame by a factor n,
 * every crop pixel is the mean of n × n samples, so that fine texture does not turn into noise.
 * Beyond the border the nearest pixel is repeated.
 */
export function warp(frame: Frame, toFrame: AffineTransform, size: ImageSize): PlanarCrop {
  const { width, height } = size
  const crop: PlanarCrop = { width, height, planes: new Float32Array(3 * width * height) }
  const perSide = Math.min(samplesPerSideMax, Math.max(1, Math.round(shrinkFactor(toFrame))))
  for (let row = 0; row < perSide; row++)
    for (let column = 0; column < perSide; column++)
      addSamples(crop, frame, toFrame, {
        x: (column + 0.5) / perSide,
        y: (row + 0.5) / perSide,
        weight: 1 / perSide ** 2,
      })
  return crop
}

/** Returns the number of frame pixels along the side of one crop pixel. */
export function shrinkFactor({ a, b, d, e }: AffineTransform): number {
  return Math.sqrt(Math.abs(a * e - b * d))
}

/** Above a shrink factor of eight the crop hardly changes, and the cost grows with the square. */
const samplesPerSideMax = 8

type SubpixelSample = { readonly x: number; readonly y: number; readonly weight: number }

/**
 * Adds one weighted sample to every crop pixel, taken at (`sample.x`, `sample.y`) within the pixel.
 * The loop has no calls and no allocations, because it runs up to a million times per face.
 */
function addSamples(
  crop: PlanarCrop,
  frame: Frame,
  toFrame: AffineTransform,
  sample: SubpixelSample,
): void {
  const { pixels } = frame
  const { a, d } = toFrame
  const { planes } = crop
  const planeSize = crop.width * crop.height
  const right = frame.width - 1
  const bottom = frame.height - 1
  const stride = frame.width * 3
  for (let row = 0, index = 0; row < crop.height; row++) {
    const y = row + sample.y
    // From continuous coordinates to pixel centres: subtract half a pixel.
    let u = toFrame.a * sample.x + toFrame.b * y + toFrame.c - 0.5
    let v = toFrame.d * sample.x + toFrame.e * y + toFrame.f - 0.5
    for (let column = 0; column < crop.width; column++, index++, u += a, v += d) {
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
      for (let plane = 0, to = index; plane < 3; plane++, to += planeSize) {
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
