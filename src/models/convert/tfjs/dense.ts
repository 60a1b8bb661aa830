import { fusedActivation } from './activation.ts'
import { constantInput, featureMapInput, tensor, tensorInput } from './node-conversion.ts'
import type { NodeConverter } from './node-conversion.ts'
import { booleanAttribute, stringsAttribute } from './topology.ts'

/** The head of a network: from pictures to a list of features, and from features to answers. */
export const denseConverters: Readonly<Record<string, NodeConverter>> = {
  Mean: (operation) => {
    const { name, channels } = featureMapInput(operation, 0)
    const axes = constantInput(operation, 1).data
    if (axes.join() !== '1,2' || booleanAttribute(operation.node, 'keep_dims'))
      throw new Error('the mean is not one over height and width')
    const { graph } = operation
    const mean = graph.add('GlobalAveragePool', [name])
    return tensor(graph.add('Flatten', [mean], { axis: 1 }), [1, channels])
  },
  /** Inputs: features, weights `[in, out]`, bias. */
  _FusedMatMul: (operation) => {
    const { node, graph } = operation
    const [bias, activation] = stringsAttribute(node, 'fused_ops')
    const isTransposed = ['transpose_a', 'transpose_b'].some((key) => booleanAttribute(node, key))
    if (bias !== 'BiasAdd' || isTransposed) throw new Error('it is not a dense layer')
    const weights = constantInput(operation, 1)
    const outputs = constantInput(operation, 2).data
    const name = graph.add('Gemm', [
      tensorInput(operation, 0).name,
      graph.floats(weights.data, weights.shape),
      graph.floats(outputs, [outputs.length]),
    ])
    const shape = [1, outputs.length]
    if (!activation) return tensor(name, shape)
    return tensor(fusedActivation(operation, name, { activation, slopesIndex: 3 }), shape)
  },
}
