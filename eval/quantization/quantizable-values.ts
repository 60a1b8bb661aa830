import { foldAffine } from '../../src/models/convert/onnx/fold-affine.ts'
import type { Graph } from '../../src/models/convert/onnx/graph.ts'
import { activatedResults } from '../../src/models/convert/onnx/quantize.ts'

/**
 * Returns the values of a network that can be rounded: the inputs of convolutions, and the results of
 * convolutions, sums and poolings behind their activation function.
 */
export function quantizableValues(network: Graph): string[] {
  const graph = foldAffine(network)
  const results = activatedResults(graph)
  const values = new Set<string>()
  for (const { operator, inputs, output } of graph.nodes) {
    if (operator === 'Conv') values.add(inputs[0] ?? '')
    if (roundedOperators.has(operator)) values.add(results.get(output) ?? output)
  }
  return [...values]
}

const roundedOperators = new Set(['Conv', 'Add', 'MaxPool', 'AveragePool', 'Pad'])
