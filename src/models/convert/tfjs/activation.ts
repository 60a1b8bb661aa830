import type { GraphBuilder } from '../onnx/graph.ts'
import { clip } from '../onnx/layers.ts'
import { constantInput, tensor, tensorInput } from './node-conversion.ts'
import type { ConstantValue, NodeConversion, NodeConverter } from './node-conversion.ts'

export const activationConverters: Readonly<Record<string, NodeConverter>> = {
  Relu: unary('Relu'),
  Relu6: (operation) => {
    const { name, shape } = tensorInput(operation, 0)
    const [low] = constantInput(operation, 1).data
    const [high] = constantInput(operation, 2).data
    if (low !== 0 || high === undefined) throw new Error('it is not a ReLU with an upper bound')
    return tensor(clip(operation.graph, name, { low, high }), shape)
  },
  Sigmoid: unary('Sigmoid'),
  Prelu: (operation) => {
    const { name, shape } = tensorInput(operation, 0)
    return tensor(prelu(operation.graph, name, constantInput(operation, 1)), shape)
  },
  Softmax: (operation) => {
    const { name, shape } = tensorInput(operation, 0)
    if (shape.length !== 2) throw new Error('Softmax wants a list of logits')
    return tensor(operation.graph.add('Softmax', [name], { axis: -1 }), shape)
  },
}

/** Adds the activation that is fused into an operation; `slopesIndex` is the input of a Prelu's slopes. */
export function fusedActivation(
  operation: NodeConversion,
  name: string,
  { activation, slopesIndex }: { readonly activation: string; readonly slopesIndex: number },
): string {
  if (activation === 'Relu') return operation.graph.add('Relu', [name])
  if (activation === 'Prelu')
    return prelu(operation.graph, name, constantInput(operation, slopesIndex))
  throw new Error(`no fused activation ${activation}`)
}

function unary(operator: string): NodeConverter {
  return (operation) => {
    const { name, shape } = tensorInput(operation, 0)
    return tensor(operation.graph.add(operator, [name]), shape)
  }
}

/**
 * PReLU with one slope `a` per channel, as `a·x + (1 − a)·relu(x)`, both products being depthwise 1×1
 * convolutions. onnxruntime works on blocks of channels in convolutions, and its own PRelu makes it
 * leave that layout: facemesh runs 23 % faster this way, the same to 3e-5 px.
 */
function prelu(graph: GraphBuilder, name: string, slopes: ConstantValue): string {
  const channels = slopes.data.length
  const scale = (input: string, factors: Float32Array): string =>
    graph.add('Conv', [input, graph.floats(factors, [channels, 1, 1, 1])], {
      kernel_shape: [1, 1],
      group: channels,
    })
  const positive = scale(
    graph.add('Relu', [name]),
    slopes.data.map((slope) => 1 - slope),
  )
  return graph.add('Add', [scale(name, slopes.data), positive])
}
