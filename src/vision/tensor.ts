import { resizeFrame } from './image/decode.ts'
import type { Frame } from './image/frame.ts'
import type { NetworkInput, ImageSize } from './network-input.ts'
import type { PlanarCrop } from './image/warp.ts'

/** A chip as the model wants it: (pixel − mean) × scale, its channels in the model's order. */
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

/** A tensor with every row of `width` values turned about: the picture in a mirror. */
export function mirrorTensor(tensor: Float32Array, width: number): Float32Array {
  const turned = tensor.slice()
  for (let row = 0; row < turned.length; row += width) turned.subarray(row, row + width).reverse()
  return turned
}

/** `tensor`, and its mirror image behind it: a batch of two. */
export function appendMirror(tensor: Float32Array, width: number): Float32Array {
  const both = new Float32Array(2 * tensor.length)
  both.set(tensor)
  both.set(mirrorTensor(tensor, width), tensor.length)
  return both
}

/** A whole frame in the input of a detector. */
export type Letterbox = {
  readonly tensor: Float32Array
  /** Frame pixels per pixel of the input; the frame's sides are rounded, hence two. */
  readonly scaleX: number
  readonly scaleY: number
}

/**
 * The whole `frame`, its proportions kept, in the top left corner of the model's input; the rest
 * is black. Stretching the frame to the input instead, as `human` does, costs recall.
 */
export async function letterbox(
  frame: Frame,
  input: NetworkInput,
  scale = fitScale(frame, input),
): Promise<Letterbox> {
  const width = Math.max(1, Math.round(frame.width * scale))
  const height = Math.max(1, Math.round(frame.height * scale))
  const isThatSize = frame.width === width && frame.height === height
  const { pixels } = isThatSize ? frame : await resizeFrame(frame, width, height)
  const tensor = blackInput(input)
  const planeSize = input.width * input.height
  const [first = 0, second = 0, third = 0] = blackLevels(input)
  const [red, blue] = input.colourOrder === 'BGR' ? [2, 0] : [0, 2]
  for (let y = 0, from = 0; y < height; y++)
    for (let x = 0, to = y * input.width; x < width; x++, to++, from += 3) {
      tensor[to] = (pixels[from + red] ?? 0) * input.scale + first
      tensor[to + planeSize] = (pixels[from + 1] ?? 0) * input.scale + second
      tensor[to + 2 * planeSize] = (pixels[from + blue] ?? 0) * input.scale + third
    }
  return { tensor, scaleX: frame.width / width, scaleY: frame.height / height }
}

/** Pixels of the input per pixel of the whole frame. */
export function fitScale(frame: ImageSize, input: ImageSize): number {
  return Math.min(input.width / frame.width, input.height / frame.height)
}

/**
 * The least input that holds the whole frame at the scale of `input`, for a network of any size: a
 * wide frame in a square costs nearly twice as much.
 */
export function fitInput(frame: Frame, input: NetworkInput): NetworkInput {
  const scale = fitScale(frame, input)
  const fit = (side: number): number => Math.ceil(Math.round(side * scale) / stridePx) * stridePx
  return { ...input, width: fit(frame.width), height: fit(frame.height) }
}

/** The largest stride of a detector: its input is a multiple of it. */
const stridePx = 32

/** What a picture without light is to the model. */
export function blackInput(input: NetworkInput): Float32Array {
  const planeSize = input.width * input.height
  const tensor = new Float32Array(3 * planeSize)
  for (const [channel, level] of blackLevels(input).entries())
    if (level !== 0) tensor.fill(level, channel * planeSize, (channel + 1) * planeSize)
  return tensor
}

/** What a black pixel is to the model, for each channel in the model's order. */
function blackLevels({ mean, scale }: NetworkInput): number[] {
  return [0, 1, 2].map((channel) => -(mean[channel] ?? 0) * scale)
}
