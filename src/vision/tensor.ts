import type { Frame } from './image/frame.ts'
import type { ImageSize } from './image/geometry.ts'
import type { ImagePyramid } from './image/pyramid.ts'
import { cropTransform } from './image/similarity-transform.ts'
import { warp, type PlanarCrop } from './image/warp.ts'
import type { NetworkInput } from './network-input.ts'

/** Returns (pixel − mean) × scale for each pixel of a crop, with the channels in model order. */
export function toTensor({ planes }: PlanarCrop, input: NetworkInput): Float32Array {
  const size = input.width * input.height
  const tensor = new Float32Array(planes.length)
  for (let channel = 0; channel < 3; channel++) {
    const from = (input.colourOrder === 'BGR' ? 2 - channel : channel) * size
    const mean = input.mean[channel] ?? 0
    for (let i = 0; i < size; i++)
      tensor[channel * size + i] = ((planes[from + i] ?? 0) - mean) * input.scale
  }
  return tensor
}

/** Returns a copy of a tensor with every row of `width` values reversed: the mirror image. */
export function mirrorTensor(tensor: Float32Array, width: number): Float32Array {
  const mirrored = tensor.slice()
  for (let row = 0; row < mirrored.length; row += width)
    mirrored.subarray(row, row + width).reverse()
  return mirrored
}

/** Returns `tensor` followed by its mirror image: a batch of two. */
export function appendMirror(tensor: Float32Array, width: number): Float32Array {
  const batch = new Float32Array(2 * tensor.length)
  batch.set(tensor)
  batch.set(mirrorTensor(tensor, width), tensor.length)
  return batch
}

/** A whole frame as the input of a detector. */
export type Letterbox = {
  readonly tensor: Float32Array
  /** Frame px per input px. The two differ slightly, because the scaled sides are rounded. */
  readonly scaleX: number
  readonly scaleY: number
}

/**
 * Places the whole frame, with its proportions kept, in the top left corner of the model's input. The
 * rest is black. Stretching the frame to the input instead, as `human` does, costs recall.
 */
export function letterbox(
  { frame, levelForScale }: ImagePyramid,
  input: NetworkInput,
  scale = fitScale(frame, input),
): Letterbox {
  const width = Math.max(1, Math.round(frame.width * scale))
  const height = Math.max(1, Math.round(frame.height * scale))
  const tensor = blackInput(input)
  placeCrop(resizeWhole(levelForScale(scale), { width, height }), tensor, input)
  return { tensor, scaleX: frame.width / width, scaleY: frame.height / height }
}

/** Returns the whole frame at another size. */
function resizeWhole(frame: Frame, size: ImageSize): PlanarCrop {
  const { width, height } = frame
  return warp(frame, cropTransform({ x: 0, y: 0, width, height }, size), size)
}

/** Writes a crop, as the network expects it, to the top left corner of its input. */
function placeCrop(
  { planes, width, height }: PlanarCrop,
  tensor: Float32Array,
  input: NetworkInput,
) {
  for (let channel = 0; channel < 3; channel++) {
    const from = (input.colourOrder === 'BGR' ? 2 - channel : channel) * width * height
    const offset = blackLevels(input)[channel] ?? 0
    for (let y = 0; y < height; y++) {
      const at = (channel * input.height + y) * input.width
      for (let x = 0; x < width; x++)
        tensor[at + x] = (planes[from + y * width + x] ?? 0) * input.scale + offset
    }
  }
}

/**
 * Returns the smallest input that contains the whole frame at the scale of `input`, for a network that
 * accepts any size, and the frame in it. A wide frame in a square input costs nearly twice as much.
 */
export function letterboxInShape(
  pyramid: ImagePyramid,
  input: NetworkInput,
): Letterbox & { readonly input: NetworkInput } {
  const fitted = fitInput(pyramid.frame, input)
  return { input: fitted, ...letterbox(pyramid, fitted, fitScale(pyramid.frame, input)) }
}

/** Returns the input px per frame px at which the whole frame fits into the input. */
function fitScale(frame: ImageSize, input: ImageSize): number {
  return Math.min(input.width / frame.width, input.height / frame.height)
}

/** Returns the smallest input of whole strides that contains the frame at the scale of `input`. */
export function fitInput(frame: Frame, input: NetworkInput): NetworkInput {
  const scale = fitScale(frame, input)
  const fit = (side: number): number =>
    Math.ceil(Math.max(1, Math.round(side * scale)) / stridePx) * stridePx
  return { ...input, width: fit(frame.width), height: fit(frame.height) }
}

/** The largest stride of a detector. The sides of its input are multiples of it. */
const stridePx = 32

/** Returns the tensor of a black image. */
export function blackInput(input: NetworkInput): Float32Array {
  const planeSize = input.width * input.height
  const tensor = new Float32Array(3 * planeSize)
  for (const [channel, level] of blackLevels(input).entries())
    if (level !== 0) tensor.fill(level, channel * planeSize, (channel + 1) * planeSize)
  return tensor
}

/** Returns the tensor value of a black pixel for each channel, in the order of the model. */
function blackLevels({ mean, scale }: NetworkInput): number[] {
  return [0, 1, 2].map((channel) => -(mean[channel] ?? 0) * scale)
}
