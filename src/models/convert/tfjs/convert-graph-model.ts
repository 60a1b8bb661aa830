import { buildGraph, type Graph, type GraphBuilder } from '../onnx/graph.ts'
import { readWeights } from '../weights.ts'
import {
  type GraphValue,
  type NodeConversion,
  type NodeConverter,
  type RuntimeTensor,
  inTensorFlowOrder,
  operatorConverters,
  tensor,
} from './node-converters.ts'
import {
  unconsumedNodes,
  nodesInOrder,
  shapeAttribute,
  type GraphModel,
  type TopologyNode,
} from './topology.ts'

/**
 * Converts a TensorFlow.js graph model to an ONNX graph with images in NCHW. The shapes are computed
 * for a batch of one; the batch size of the result is variable.
 */
export function convertGraphModel(
  name: string,
  source: { readonly model: GraphModel; readonly weights: Uint8Array },
  { outputs, isAnySize = false }: GraphModelOptions = {},
): Graph {
  const nodes = source.model.modelTopology.node
  const weights = readWeights(source.model.weightsManifest[0], source.weights)
  const builder = buildGraph(name)
  const values = new Map<string, GraphValue>()
  const outputNodes =
    outputs ?? Object.fromEntries(unconsumedNodes(nodes).map((leaf) => [leaf, leaf]))

  for (const node of nodesInOrder(fuseRelu6(nodes), Object.values(outputNodes))) {
    const constant = weights.get(node.name)
    const inputs = (node.input ?? []).map((input) => valueOf(values, input))
    values.set(
      node.name,
      constant
        ? { kind: 'constant', ...constant }
        : convertNode({ node, inputs, graph: builder, isAnySize }),
    )
  }
  for (const [output, node] of Object.entries(outputNodes))
    declareOutput(builder, output, valueOf(values, node), isAnySize)
  return builder.graph
}

export type GraphModelOptions = {
  /**
   * Output name in the ONNX graph → node. By default, every node that no other node reads, under its
   * own name.
   */
  readonly outputs?: Readonly<Record<string, string>> | undefined
  /**
   * Whether the result accepts images whose sides are any multiples of the stride. The outputs must
   * be lists of one row per cell or anchor.
   */
  readonly isAnySize?: boolean | undefined
}

/**
 * Replaces `Maximum(Minimum(Relu(x), high), low)` by one `Relu6(x, low, high)`. The TensorFlow.js
 * converter writes the ReLU6 of Keras in this form. Three separate operators read and write the memory
 * three times: faceres takes 13.0 ms instead of 11.5.
 */
function fuseRelu6(nodes: readonly TopologyNode[]): readonly TopologyNode[] {
  const byName = new Map(nodes.map((node) => [node.name, node]))
  const sourceOf = (node: TopologyNode | undefined, op: string): TopologyNode | undefined => {
    const source = byName.get(node?.input?.[0] ?? '')
    return source?.op === op ? source : undefined
  }
  return nodes.map((maximum) => {
    const minimum = maximum.op === 'Maximum' ? sourceOf(maximum, 'Minimum') : undefined
    const [x] = sourceOf(minimum, 'Relu')?.input ?? []
    const low = maximum.input?.[1]
    const high = minimum?.input?.[1]
    if (!x || !low || !high) return maximum
    return { name: maximum.name, op: 'Relu6', input: [x, low, high] }
  })
}

const converters: ReadonlyMap<string, NodeConverter> = new Map(
  Object.entries({
    Placeholder: declareInput,
    ...operatorConverters,
  }),
)

function convertNode(conversion: NodeConversion): GraphValue {
  const { name, op } = conversion.node
  try {
    const converter = converters.get(op)
    if (!converter) throw new Error('this operator is not supported')
    return converter(conversion)
  } catch (cause) {
    throw new Error(`cannot convert ${name} (${op})`, { cause })
  }
}

function valueOf(values: ReadonlyMap<string, GraphValue>, name: string): GraphValue {
  const value = values.get(name)
  if (!value) throw new Error(`${name} is read before it is defined`)
  return value
}

function declareInput({ node, graph, isAnySize }: NodeConversion): RuntimeTensor {
  const [, height = 0, width = 0, channels = 0] = shapeAttribute(node, 'shape')
  const sides = isAnySize ? ['height', 'width'] : [height, width]
  graph.input(node.name, [channels, ...sides])
  return tensor(node.name, [1, height, width, channels])
}

function declareOutput(graph: GraphBuilder, name: string, value: GraphValue, isAnySize: boolean) {
  if (value.kind !== 'tensor') throw new Error(`the output ${name} is constant`)
  const [, rows = 1, ...columns] = value.shape
  graph.output(name, inTensorFlowOrder(graph, value), [isAnySize ? 'rows' : rows, ...columns])
}
