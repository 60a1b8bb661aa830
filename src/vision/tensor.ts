import { resize } from './decode.ts'
import type { Frame } from './frame.ts'
import type { NetworkInput } from './network-input.ts'
import type { Chip } from './warp.ts'

/** A chip as the model wants it: (pixel − mean) × scale, its channels in the model's order. */
export function toTensor({ planes }: Chip, input: NetworkInput): Float32Array {
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
export function mirrored(tensor: Float32Array, width: number): Float32Array {
  const turned = tensor.slice()
  for (let row = 0; row < turned.length; row += width) turned.subarray(row, row + width).reverse()
  return turned
}

/** A whole frame in the square input of a detector. */
export type Letterbox = {
  readonly tensor: Float32Array
  /** Frame pixels per pixel of the square; the frame's sides are rounded, hence two. */
  readonly scaleX: number
  readonly scaleY: number
}

/**
 * The whole `frame`, its proportions kept, in the top left corner of the model's square; the rest
 * is black. Stretching the frame to the square instead, as `human` does, costs recall.
 */
export async function letterbox(frame: Frame, input: NetworkInput): Promise<Letterbox> {
  const scale = input.width / Math.max(frame.width, frame.height)
  const width = Math.max(1, Math.round(frame.width * scale))
  const height = Math.max(1, Math.round(frame.height * scale))
  const { pixels } = await resize(frame, width, height)
  const tensor = blackSquare(input)
  const planeSize = input.width * input.height
  const [red = 0, green = 0, blue = 0] = blackLevels(input)
  for (let y = 0, from = 0; y < height; y++)
    for (let x = 0, to = y * input.width; x < width; x++, to++, from += 3) {
      tensor[to] = (pixels[from] ?? 0) * input.scale + red
      tensor[to + planeSize] = (pixels[from + 1] ?? 0) * input.scale + green
      tensor[to + 2 * planeSize] = (pixels[from + 2] ?? 0) * input.scale + blue
    }
  return { tensor, scaleX: frame.width / width, scaleY: frame.height / height }
}

function blackSquare(input: NetworkInput): Float32Array {
  const planeSize = input.width * input.height
  const tensor = new Float32Array(3 * planeSize)
  for (const [channel, level] of blackLevels(input).entries())
    tensor.fill(level, channel * planeSize, (channel + 1) * planeSize)
  return tensor
}

/** What a black pixel is to the model, for each channel. */
function blackLevels({ mean, scale }: NetworkInput): number[] {
  return [0, 1, 2].map((channel) => -(mean[channel] ?? 0) * scale)
}
