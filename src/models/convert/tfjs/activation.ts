import type { GraphBuilder } from '../onnx/graph.ts'
import { clip } from '../onnx/layers.ts'
import { constantInput, tensor, tensorInput } from './node-conversion.ts'
import type { ConstantValue, NodeConversion, NodeConverter } from './node-conversion.ts'

export const activationConverters: Readonly<Record<string, NodeConverter>> = {
  Relu: unary('Relu'),
  Relu6: (conversion) => {
    const { name, shape } = tensorInput(conversion, 0)
    const [low] = constantInput(conversion, 1).data
    const [high] = constantInput(conversion, 2).data
    if (low !== 0 || high === undefined) throw new Error('the bounds are not those of a ReLU6')
    return tensor(clip(conversion.graph, name, { low, high }), shape)
  },
  Sigmoid: unary('Sigmoid'),
  Prelu: (conversion) => {
    const { name, shape } = tensorInput(conversion, 0)
    return tensor(prelu(conversion.graph, name, constantInput(conversion, 1)), shape)
  },
  Softmax: (conversion) => {
    const { name, shape } = tensorInput(conversion, 0)
    if (shape.length !== 2) throw new Error('Softmax needs a list of logits')
    return tensor(conversion.graph.add('Softmax', [name], { axis: -1 }), shape)
  },
}

/** Adds the fused activation of a node; its input 3 is the slopes of a Prelu. */
export function fusedActivation(
  conversion: NodeConversion,
  name: string,
  activation: string,
): string {
  if (activation === 'Relu') return conversion.graph.add('Relu', [name])
  if (activation === 'Prelu') return prelu(conversion.graph, name, constantInput(conversion, 3))
  throw new Error(`the fused activation ${activation} is not supported`)
}

function unary(operator: string): NodeConverter {
  return (conversion) => {
    const { name, shape } = tensorInput(conversion, 0)
    return tensor(conversion.graph.add(operator, [name]), shape)
  }
}

/**
 * Adds a PReLU with one slope `a` per channel as `a·x + (1 − a)·relu(x)`; both products are depthwise
 * 1×1 convolutions. onnxruntime uses blocks of channels in convolutions, and its PRelu operator leaves
 * that layout. In this form facemesh runs 23 % faster; the result differs by at most 3e-5 px.
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
