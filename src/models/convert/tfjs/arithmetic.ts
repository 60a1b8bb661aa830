import { transpose } from '../onnx/layout.ts'
import { tensor, tensorInput } from './node-conversion.ts'
import type { NodeConversion, NodeConverter, GraphValue } from './node-conversion.ts'

/** Operators on two tensors of one shape, or on a tensor and one number (or one number per channel). */
export const arithmeticConverters: Readonly<Record<string, NodeConverter>> = {
  Add: binary('Add'),
  AddV2: binary('Add'),
  Mul: binary('Mul'),
}

function binary(operator: string): NodeConverter {
  return (conversion) => {
    const { shape } = tensorInput(conversion, 0)
    const names = conversion.inputs.map((value) => operandName(conversion, value, shape.length))
    return tensor(conversion.graph.add(operator, names), shape)
  }
}

/** Expands a constant to the rank of the other operand and transposes it to NCHW. */
function operandName({ graph }: NodeConversion, value: GraphValue, rank: number): string {
  if (value.kind === 'tensor') return value.name
  if (rank !== 4 || value.data.length === 1) return graph.floats(value.data, value.shape)
  const shape = [1, 1, 1, 1, ...value.shape].slice(-4)
  const order = [0, 3, 1, 2]
  const reordered = order.map((axis) => shape[axis] ?? 1)
  return graph.floats(transpose(value.data, shape, order), reordered)
}
