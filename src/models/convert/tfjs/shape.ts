import { sizeOf } from '../onnx/layout.ts'
import { constantInput, inTensorFlowOrder, tensor, tensorInput } from './node-conversion.ts'
import type { NodeConverter } from './node-conversion.ts'

/** Operators that change the shape of a tensor, and padding with zeros. */
export const shapeConverters: Readonly<Record<string, NodeConverter>> = {
  Identity: ({ inputs: [value] }) => {
    if (!value) throw new Error('the node has no input')
    return value
  },
  /**
   * The first dimension of the new shape is always the batch; `-1` keeps its size. With images of any
   * size the second one, the cells or anchors, depends on the size.
   */
  Reshape: (conversion) => {
    const input = tensorInput(conversion, 0)
    const [, ...sizes] = constantInput(conversion, 1).data
    const knownSize = sizeOf(sizes.filter((size) => size !== -1))
    const shape = sizes.map((size) => (size === -1 ? sizeOf(input.shape) / knownSize : size))
    const { graph, isAnySize } = conversion
    const newShape = graph.integers(isAnySize ? [0, -1, ...shape.slice(1)] : [-1, ...shape])
    const ordered = inTensorFlowOrder(graph, input)
    return tensor(graph.add('Reshape', [ordered, newShape]), [1, ...shape])
  },
  Pad: (conversion) => {
    const { name, shape } = tensorInput(conversion, 0)
    const amounts = constantInput(conversion, 1).data
    if (shape.length !== 4) throw new Error('Pad needs four dimensions')
    const before = shape.map((_, axis) => amounts[2 * axis] ?? 0)
    const after = shape.map((_, axis) => amounts[2 * axis + 1] ?? 0)
    const pads = [...toNchw(before), ...toNchw(after)]
    const padded = conversion.graph.add('Pad', [name, conversion.graph.integers(pads)])
    const paddedShape = shape.map((size, axis) => size + (before[axis] ?? 0) + (after[axis] ?? 0))
    return tensor(padded, paddedShape)
  },
}

function toNchw([batch = 0, height = 0, width = 0, channels = 0]: readonly number[]): number[] {
  return [batch, channels, height, width]
}
