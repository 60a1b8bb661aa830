import { fusedActivation } from './activation.ts'
import { constantInput, featureMapInput, tensor, tensorInput } from './node-conversion.ts'
import type { NodeConverter } from './node-conversion.ts'
import { booleanAttribute, stringsAttribute } from './topology.ts'

/** Operators of the head of a network: from feature maps to features, and from features to outputs. */
export const denseConverters: Readonly<Record<string, NodeConverter>> = {
  Mean: (conversion) => {
    const { name, channels } = featureMapInput(conversion, 0)
    const axes = constantInput(conversion, 1).data
    if (axes.join() !== '1,2' || booleanAttribute(conversion.node, 'keep_dims'))
      throw new Error('only a mean over height and width is supported')
    const { graph } = conversion
    const mean = graph.add('GlobalAveragePool', [name])
    return tensor(graph.add('Flatten', [mean], { axis: 1 }), [1, channels])
  },
  /** Inputs: features, weights `[in, out]`, bias. */
  _FusedMatMul: (conversion) => {
    const { node, graph } = conversion
    const [bias, activation] = stringsAttribute(node, 'fused_ops')
    const isTransposed = ['transpose_a', 'transpose_b'].some((key) => booleanAttribute(node, key))
    if (bias !== 'BiasAdd' || isTransposed)
      throw new Error('only a dense layer with a bias is supported')
    const weights = constantInput(conversion, 1)
    const biases = constantInput(conversion, 2).data
    const name = graph.add('Gemm', [
      tensorInput(conversion, 0).name,
      graph.floats(weights.data, weights.shape),
      graph.floats(biases, [biases.length]),
    ])
    const shape = [1, biases.length]
    if (!activation) return tensor(name, shape)
    return tensor(fusedActivation(conversion, name, activation), shape)
  },
}
