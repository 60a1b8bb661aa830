/** Shape arithmetic, and the reordering of weights from TensorFlow's layout to ONNX's. */

/** The number of values of a tensor with this shape; 1 for a scalar. */
export function sizeOf(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1)
}

/** Reorders a dense row-major array so that axis `i` of the result is axis `order[i]` of `data`. */
export function transpose(data: Float32Array, shape: readonly number[], order: readonly number[]) {
  const strides = shape.map((_, axis) => sizeOf(shape.slice(axis + 1)))
  const axes = order.map((axis) => ({ size: shape[axis] ?? 1, stride: strides[axis] ?? 1 }))
  const result = new Float32Array(data.length)
  let index = 0
  const copy = (depth: number, offset: number): void => {
    const axis = axes[depth]
    if (!axis) result[index++] = data[offset] ?? Number.NaN
    else for (let i = 0; i < axis.size; i++) copy(depth + 1, offset + i * axis.stride)
  }
  copy(0, 0)
  return result
}

/** The height and width of an image, a kernel or a stride. */
export type Size2 = readonly [height: number, width: number]

/** Pixels added around an image, in ONNX's order. */
export type Pads = readonly [top: number, left: number, bottom: number, right: number]

export const noPads: Pads = [0, 0, 0, 0]

/**
 * The padding of TensorFlow's "SAME" mode: there are as many outputs as strides fit into the input,
 * and the odd pixel is at the bottom and right (symmetric padding would be wrong at stride 2).
 */
export function samePads(input: Size2, kernel: Size2, stride: Size2): Pads {
  const [top, bottom] = samePadsOfAxis(input[0], kernel[0], stride[0])
  const [left, right] = samePadsOfAxis(input[1], kernel[1], stride[1])
  return [top, left, bottom, right]
}

function samePadsOfAxis(input: number, kernel: number, stride: number): [number, number] {
  const outputs = Math.ceil(input / stride)
  const total = Math.max((outputs - 1) * stride + kernel - input, 0)
  const before = Math.floor(total / 2)
  return [before, total - before]
}

/** The output size of a convolution or pooling layer. */
export function windowedSize(
  input: Size2,
  window: { readonly kernel: Size2; readonly stride: Size2; readonly pads: Pads },
): [height: number, width: number] {
  const { kernel, stride, pads } = window
  return [
    Math.floor((input[0] + pads[0] + pads[2] - kernel[0]) / stride[0]) + 1,
    Math.floor((input[1] + pads[1] + pads[3] - kernel[1]) / stride[1]) + 1,
  ]
}
