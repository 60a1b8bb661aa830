import { sizeOf } from '../onnx/layout.ts'
import { constantInput, inTensorFlowOrder, tensor, tensorInput } from './node-conversion.ts'
import type { NodeConverter } from './node-conversion.ts'

/** What changes the shape of a tensor and not its values, and zeros around it. */
export const shapeConverters: Readonly<Record<string, NodeConverter>> = {
  Identity: ({ inputs: [value] }) => {
    if (!value) throw new Error('it has no input')
    return value
  },
  /** The first dimension of the new shape is the batch, whatever the graph says: `-1` keeps it. */
  Reshape: (operation) => {
    const input = tensorInput(operation, 0)
    const [, ...wanted] = constantInput(operation, 1).data
    const known = sizeOf(wanted.filter((size) => size !== -1))
    const shape = wanted.map((size) => (size === -1 ? sizeOf(input.shape) / known : size))
    const { graph } = operation
    const newShape = graph.integers([-1, ...shape])
    const ordered = inTensorFlowOrder(graph, input)
    return tensor(graph.add('Reshape', [ordered, newShape]), [1, ...shape])
  },
  Pad: (operation) => {
    const { name, shape } = tensorInput(operation, 0)
    const amounts = constantInput(operation, 1).data
    if (shape.length !== 4) throw new Error('Pad wants a stack of pictures')
    const before = shape.map((_, axis) => amounts[2 * axis] ?? 0)
    const after = shape.map((_, axis) => amounts[2 * axis + 1] ?? 0)
    const pads = [...toNchw(before), ...toNchw(after)]
    const padded = operation.graph.add('Pad', [name, operation.graph.integers(pads)])
    const grown = shape.map((size, axis) => size + (before[axis] ?? 0) + (after[axis] ?? 0))
    return tensor(padded, grown)
  },
}

function toNchw([batch = 0, height = 0, width = 0, channels = 0]: readonly number[]): number[] {
  return [batch, channels, height, width]
}
