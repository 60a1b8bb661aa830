import { buildGraph } from '../onnx/graph.ts'
import type { Graph, GraphBuilder } from '../onnx/graph.ts'
import { readWeights } from '../weights.ts'
import { activations } from './activation.ts'
import { arithmetic } from './arithmetic.ts'
import { convolutions } from './convolution.ts'
import { heads } from './dense.ts'
import { fuseRelu6 } from './fuse.ts'
import { inTensorFlowOrder, tensor } from './operation.ts'
import type { Operation, Operator, Tensor, Value } from './operation.ts'
import { shaping } from './shape.ts'
import { leavesOf, nodesInOrder, shapeAttribute } from './topology.ts'
import type { GraphModel, TopologyNode } from './topology.ts'

/**
 * Turns a TensorFlow.js graph model into an ONNX graph with its pictures in NCHW, by walking it once
 * with the shapes of a batch of one; the batch of the result is free.
 *
 * `outputs` is name in the product → node; without it every node that nothing reads is an output.
 */
export function convertGraphModel(
  name: string,
  source: { readonly model: GraphModel; readonly weights: Uint8Array },
  outputs?: Readonly<Record<string, string>>,
): Graph {
  const nodes = source.model.modelTopology.node
  const weights = readWeights(source.model.weightsManifest[0], source.weights)
  const builder = buildGraph(name)
  const values = new Map<string, Value>()
  const wanted = outputs ?? Object.fromEntries(leavesOf(nodes).map((leaf) => [leaf, leaf]))

  for (const node of nodesInOrder(fuseRelu6(nodes), Object.values(wanted))) {
    const constant = weights.get(node.name)
    const inputs = (node.input ?? []).map((input) => valueOf(values, input))
    values.set(
      node.name,
      constant ? { kind: 'constant', ...constant } : convertNode({ node, inputs, graph: builder }),
    )
  }
  for (const [output, node] of Object.entries(wanted))
    declareOutput(builder, output, valueOf(values, node))
  return builder.graph
}

const operators: Readonly<Record<string, Operator>> = {
  Placeholder: ({ node, graph }) => declareInput(node, graph),
  ...activations,
  ...arithmetic,
  ...convolutions,
  ...heads,
  ...shaping,
}

function convertNode(operation: Operation): Value {
  const { name, op } = operation.node
  try {
    const operator = operators[op]
    if (!operator) throw new Error('there is no such operator here')
    return operator(operation)
  } catch (cause) {
    throw new Error(`cannot convert ${name} (${op})`, { cause })
  }
}

function valueOf(values: ReadonlyMap<string, Value>, name: string): Value {
  const value = values.get(name)
  if (!value) throw new Error(`${name} is read before it is there`)
  return value
}

function declareInput(node: TopologyNode, graph: GraphBuilder): Tensor {
  const [, height = 0, width = 0, channels = 0] = shapeAttribute(node, 'shape')
  graph.input(node.name, [channels, height, width])
  return tensor(node.name, [1, height, width, channels])
}

function declareOutput(graph: GraphBuilder, name: string, value: Value): void {
  if (value.kind !== 'tensor') throw new Error(`the output ${name} is constant`)
  graph.output(name, inTensorFlowOrder(graph, value), value.shape.slice(1))
}
