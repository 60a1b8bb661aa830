import type { Frame } from './image/decode.ts'
import { cropTransform, scaleSize, type ImageSize } from './image/geometry.ts'
import { levelPlanes, type CropLevels } from './image/kernel/image-kernel.ts'
import { warp, type ImagePyramid, type PlanarCrop } from './image/pyramid.ts'
import type { NetworkInput } from './session.ts'

/**
 * Returns (pixel − mean) × scale for each pixel of a crop, with the channels in model order: the
 * planes of the crop themselves, if these are their values.
 */
export function toTensor({ planes }: PlanarCrop, input: NetworkInput): Float32Array {
  const levels = inputLevels(input)
  const isReversed = input.colourOrder === 'BGR'
  if (levels.scale === 1 && levels.offsets.every((offset) => offset === 0) && !isReversed)
    return planes
  const size = input.width * input.height
  const planeAt = (index: number): Float32Array => planes.subarray(index * size, (index + 1) * size)
  const [red, green, blue] = [planeAt(0), planeAt(1), planeAt(2)]
  return levelPlanes(isReversed ? [blue, green, red] : [red, green, blue], levels)
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

/**
 * Places the whole frame, with its proportions kept, in the top left corner of the model's input. The
 * rest is black. Stretching the frame to the input instead, as `human` does, costs recall. The scales
 * are frame px per input px; the two differ slightly, because the scaled sides are rounded.
 */
export function letterbox(
  { frame, levelForScale }: ImagePyramid,
  input: NetworkInput,
  scale = fitScale(frame, input),
) {
  const size = scaleSize(frame, scale)
  const tensor = blackInput(input)
  placeCrop(resizeToInput(levelForScale(scale), size, input), tensor, input)
  return { tensor, scaleX: frame.width / size.width, scaleY: frame.height / size.height }
}

/** Returns the whole frame at another size, with the values of a network's input in R, G, B. */
function resizeToInput(frame: Frame, size: ImageSize, input: NetworkInput): PlanarCrop {
  const { width, height } = frame
  const { scale, offsets } = inputLevels(input)
  const [first, second, third] = offsets
  const isReversed = input.colourOrder === 'BGR'
  const levels: CropLevels = { scale, offsets: isReversed ? [third, second, first] : offsets }
  return warp(frame, cropTransform({ x: 0, y: 0, width, height }, size), { ...size, levels })
}

/** Writes a crop, with the channels in model order, to the top left corner of a network's input. */
function placeCrop(
  { planes, width, height }: PlanarCrop,
  tensor: Float32Array,
  input: NetworkInput,
) {
  // A crop as wide as the input is copied in one piece per channel.
  const [rows, length] = width === input.width ? [1, width * height] : [height, width]
  for (let channel = 0; channel < 3; channel++) {
    const from = (input.colourOrder === 'BGR' ? 2 - channel : channel) * width * height
    for (let row = 0; row < rows; row++) {
      const part = planes.subarray(from + row * length, from + (row + 1) * length)
      tensor.set(part, (channel * input.height + row) * input.width)
    }
  }
}

/**
 * Returns the smallest input that contains the whole frame at the scale of `input`, for a network that
 * accepts any size, and the frame in it. A wide frame in a square input costs nearly twice as much.
 */
export function letterboxInShape(pyramid: ImagePyramid, input: NetworkInput) {
  const fitted = fitInput(pyramid.frame, input)
  return { input: fitted, ...letterbox(pyramid, fitted, fitScale(pyramid.frame, input)) }
}

/** Returns the input px per frame px at which the whole frame fits into the input. */
function fitScale(frame: ImageSize, input: ImageSize): number {
  return Math.min(input.width / frame.width, input.height / frame.height)
}

/** Returns the smallest input of whole strides that contains the frame at the scale of `input`. */
export function fitInput(frame: Frame, input: NetworkInput): NetworkInput {
  const { width, height } = scaleSize(frame, fitScale(frame, input))
  const roundUp = (side: number): number => Math.ceil(side / stridePx) * stridePx
  return { ...input, width: roundUp(width), height: roundUp(height) }
}

/** The largest stride of a detector. The sides of its input are multiples of it. */
const stridePx = 32

/** Returns the tensor of a black image. */
export function blackInput(input: NetworkInput): Float32Array {
  const planeSize = input.width * input.height
  const tensor = new Float32Array(3 * planeSize)
  for (const [channel, level] of inputLevels(input).offsets.entries())
    if (level !== 0) tensor.fill(level, channel * planeSize, (channel + 1) * planeSize)
  return tensor
}

/** Returns (pixel − mean) × scale as pixel × scale + offset, for each channel in model order. */
function inputLevels({ mean, scale }: NetworkInput) {
  const offsetOf = (channel: number): number => -(mean[channel] ?? 0) * scale
  return { scale, offsets: [offsetOf(0), offsetOf(1), offsetOf(2)] as const }
}
