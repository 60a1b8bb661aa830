import type { Graph, GraphNode, Initializer } from './graph.ts'

/**
 * Returns a graph in which a convolution contains the factors and summands per channel that follow
 * it: `Conv → Mul → Add` and `Conv → Add` become one `Conv` with a bias. The runtime does the same to
 * a float32 network. A quantized convolution must be whole before its weights are rounded.
 */
export function foldAffine(graph: Graph): Graph {
  const readers = readersOf(graph)
  const initializers = new Map(graph.initializers.map((tensor) => [tensor.name, tensor]))
  const nodes: GraphNode[] = []
  /** The output of each convolution → its index in `nodes`. */
  const convolutions = new Map<string, number>()
  for (const node of graph.nodes) {
    const { operator } = node
    const [input = '', constant = ''] = node.inputs
    const index = convolutions.get(input) ?? -1
    const convolution = nodes[index]
    const values = channelValues(initializers.get(constant))
    const isAffine = operator === 'Mul' || operator === 'Add'
    if (isAffine && convolution && values && readers.get(input)?.length === 1) {
      const folded = fold(convolution, { operator, values, initializers })
      nodes[index] = { ...folded, output: node.output }
      convolutions.set(node.output, index)
    } else {
      if (operator === 'Conv') convolutions.set(node.output, nodes.length)
      nodes.push(node)
    }
  }
  return { ...graph, nodes, initializers: [...initializers.values()] }
}

type Affine = {
  readonly operator: 'Mul' | 'Add'
  /** One value for each output channel. */
  readonly values: Float32Array
  /** The weights of the graph, to which the changed ones are added. */
  readonly initializers: Map<string, Initializer>
}

function fold(node: GraphNode, { operator, values, initializers }: Affine): GraphNode {
  const [input = '', weightName = '', biasName] = node.inputs
  const weights = initializers.get(weightName)
  const bias = biasName === undefined ? undefined : initializers.get(biasName)
  if (!(weights?.data instanceof Float32Array)) throw new Error(`${weightName} is not a filter`)
  const perChannel = weights.data.length / values.length
  const isProduct = operator === 'Mul'
  const biasData = bias?.data instanceof Float32Array ? bias.data : values.map(() => 0)
  const scaled = isProduct
    ? weights.data.map((value, index) => value * (values[Math.floor(index / perChannel)] ?? 1))
    : weights.data
  const moved = biasData.map((value, channel) =>
    isProduct ? value * (values[channel] ?? 1) : value + (values[channel] ?? 0),
  )
  const names = { weights: `${weightName}_folded`, bias: `${weightName}_bias` }
  initializers.set(names.weights, { ...weights, name: names.weights, data: scaled })
  initializers.set(names.bias, { name: names.bias, shape: [values.length], data: moved })
  return { ...node, inputs: [input, names.weights, names.bias] }
}

/** Returns the values of a constant `[1, channels, 1, 1]`. */
function channelValues(constant: Initializer | undefined): Float32Array | undefined {
  if (!(constant?.data instanceof Float32Array) || constant.shape.length !== 4) return undefined
  const [batch, channels, height, width] = constant.shape
  return batch === 1 && height === 1 && width === 1 && channels === constant.data.length
    ? constant.data
    : undefined
}

/** Returns the nodes that read each value; a node is listed once for each of its inputs. */
export function readersOf({ nodes }: Pick<Graph, 'nodes'>): ReadonlyMap<string, GraphNode[]> {
  const readers = new Map<string, GraphNode[]>()
  for (const node of nodes)
    for (const input of node.inputs) readers.set(input, [...(readers.get(input) ?? []), node])
  return readers
}
