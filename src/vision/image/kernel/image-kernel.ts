import { readFileSync } from 'node:fs'
import type { Frame } from '../decode.ts'
import type { ImageSize, AffineTransform } from '../geometry.ts'

// The functions of `image.wat`. They copy pixels to the memory of the kernel and the result out of it,
// so that a frame or crop has no lifetime to observe. The copies take a tenth of the time.

/**
 * Returns `frame` at half its width and height; every pixel is the rounded mean of four. An odd side
 * is rounded up, and its last pixel is repeated.
 */
export function halveFrame({ width, height, pixels }: Frame): Frame {
  const half = { width: Math.ceil(width / 2), height: Math.ceil(height / 2) }
  const outputAt = alignedEnd(pixels.length + readPastBytes)
  const outputBytes = 3 * half.width * half.height
  const bytes = reserve(outputAt + outputBytes + readPastBytes)
  bytes.set(pixels)
  kernel.halve(0, width, height, outputAt)
  return { ...half, pixels: bytes.slice(outputAt, outputAt + outputBytes) }
}

/** How the values 0..255 of a crop are written: multiplied by `scale`, plus the offset of their plane. */
export type CropLevels = {
  readonly scale: number
  readonly offsets: readonly [first: number, second: number, third: number]
}

/** The size of a crop, and its samples. */
export type CropSampling = ImageSize & {
  readonly samplesPerSide: number
  /** Default: values 0..255. */
  readonly levels?: CropLevels | undefined
}

/**
 * Returns a crop: planar float32, all of R, then G, then B. Crop point p shows the frame at
 * `toFrame(p)`, in continuous coordinates. Each pixel is the mean of `samplesPerSide` ×
 * `samplesPerSide` bilinear samples. Beyond the border the nearest pixel is repeated.
 */
export function sampleFrame(
  frame: Frame,
  toFrame: AffineTransform,
  { width, height, samplesPerSide, levels }: CropSampling,
): Float32Array {
  const { a, b, c, d, e, f } = toFrame
  const { top, bottom } = rowsOf(frame, toFrame, { width, height })
  const stride = 3 * frame.width
  const outputAt = alignedEnd((bottom - top + 2) * stride + readPastBytes)
  const values = 3 * width * height
  const bytes = reserve(outputAt + 4 * values)
  bytes.set(frame.pixels.subarray(top * stride, (bottom + 1) * stride))
  const lastPixel = [frame.width - 1, bottom - top]
  const transform = [a, b, c, d, e, f - top]
  kernel.sample(0, stride, ...lastPixel, ...transform, width, height, samplesPerSide, outputAt)
  if (levels) scalePlanes(outputAt, width * height, levels)
  return new Float32Array(bytes.buffer, outputAt, values).slice()
}

/** Returns three planes with other levels. Each value is computed with 64 bits and rounded once. */
export function levelPlanes(
  planes: readonly [Float32Array, Float32Array, Float32Array],
  levels: CropLevels,
): Float32Array {
  const size = planes[0].length
  const values = new Float32Array(reserve(4 * 3 * size).buffer, 0, 3 * size)
  for (const [index, plane] of planes.entries()) values.set(plane, index * size)
  scalePlanes(0, size, levels)
  return values.slice()
}

/** Applies the levels to the three planes of a crop in the memory of the kernel. */
function scalePlanes(at: number, size: number, { scale, offsets }: CropLevels): void {
  for (const [plane, offset] of offsets.entries())
    kernel.scale(at + 4 * plane * size, size, scale, offset)
}

/** Returns the first and the last row of the frame that the crop shows. */
function rowsOf({ height }: ImageSize, { d, e, f }: AffineTransform, size: ImageSize) {
  const corners = [f, f + d * size.width, f + e * size.height, f + d * size.width + e * size.height]
  const clamp = (row: number): number => Math.min(height - 1, Math.max(0, row))
  return {
    top: clamp(Math.floor(Math.min(...corners) - 1)),
    bottom: clamp(Math.ceil(Math.max(...corners) + 1)),
  }
}

/** How far the kernel reads or writes past the last pixel; see `image.wat`. */
const readPastBytes = 32

function alignedEnd(bytes: number): number {
  return Math.ceil(bytes / 16) * 16
}

const pageBytes = 65_536
/** As `image.wat` declares it: more than a frame of 4096×4096 px with its crop needs. */
const pagesMax = 4096
const memory = new WebAssembly.Memory({ initial: 1, maximum: pagesMax })

/** Returns the memory of the kernel, enlarged to at least `size` bytes. */
function reserve(size: number): Uint8Array {
  const missing = size - memory.buffer.byteLength
  if (missing > 0) memory.grow(Math.ceil(missing / pageBytes))
  return new Uint8Array(memory.buffer)
}

type ImageKernel = {
  readonly halve: (from: number, width: number, height: number, to: number) => void
  /** Parameters: from, stride, right, bottom; a to f; width, height, samples per side, to. */
  readonly sample: (...parameters: number[]) => void
  readonly scale: (at: number, count: number, scale: number, offset: number) => void
}

const kernelModule = new WebAssembly.Module(readFileSync(new URL('image.wasm', import.meta.url)))
const kernel = new WebAssembly.Instance(kernelModule, { image: { memory } }).exports as ImageKernel
