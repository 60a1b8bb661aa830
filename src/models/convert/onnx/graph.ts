/**
 * Builds an ONNX graph node by node. Values have numbered names, so the same calls create the same
 * bytes on every machine.
 */
export type GraphBuilder = {
  /** Adds a node with one output and returns the name of the output. */
  readonly add: (
    operator: string,
    inputs: readonly string[],
    attributes?: Readonly<Record<string, NodeAttribute>>,
  ) => string
  /** Adds a float32 tensor of weights; a scalar has the shape `[]`. */
  readonly floats: (data: Float32Array | readonly number[], shape: readonly number[]) => string
  /** Adds a one-dimensional int64 tensor: shapes, axes, paddings. */
  readonly integers: (values: readonly number[]) => string
  /** Declares an input; `shape` is the shape for one image, without the batch dimension. */
  readonly input: (name: string, shape: PortShape) => void
  /** Declares the value `from` as an output with the given name. */
  readonly output: (name: string, from: string, shape: PortShape) => void
  readonly graph: Graph
}

export type Graph = {
  readonly name: string
  readonly nodes: readonly GraphNode[]
  readonly initializers: readonly Initializer[]
  readonly inputs: readonly GraphPort[]
  readonly outputs: readonly GraphPort[]
}

export type GraphNode = {
  readonly operator: string
  readonly inputs: readonly string[]
  readonly output: string
  readonly attributes: Readonly<Record<string, NodeAttribute>>
}

/** An integer, a string or a list of integers: no operator of the pack needs other types. */
export type NodeAttribute = number | string | readonly number[]

export type Initializer = {
  readonly name: string
  readonly shape: readonly number[]
  readonly data: InitializerData
}

/** Values of float32, int64, int32, int8 and uint8. */
export type InitializerData = Float32Array | BigInt64Array | Int32Array | Int8Array | Uint8Array

/** An input or output: float32; the shape is without the batch dimension. */
export type GraphPort = { readonly name: string; readonly shape: PortShape }

/** A dimension of variable size has a name instead of a number. */
type PortShape = readonly (number | string)[]

export function buildGraph(name: string): GraphBuilder {
  const nodes: GraphNode[] = []
  const initializers: Initializer[] = []
  const inputs: GraphPort[] = []
  const outputs: GraphPort[] = []

  const add: GraphBuilder['add'] = (operator, from, attributes = {}) => {
    const output = `${operator}_${nodes.length}`
    nodes.push({ operator, inputs: from, output, attributes })
    return output
  }
  const addInitializer = (shape: readonly number[], data: Float32Array | BigInt64Array): string => {
    const constant = `constant_${initializers.length}`
    initializers.push({ name: constant, shape, data })
    return constant
  }
  return {
    add,
    floats: (data, shape) => addInitializer(shape, new Float32Array(data)),
    integers: (values) => addInitializer([values.length], BigInt64Array.from(values, toBigInt)),
    input: (port, shape) => inputs.push({ name: port, shape }),
    output: (port, from, shape) => {
      nodes.push({ operator: 'Identity', inputs: [from], output: port, attributes: {} })
      outputs.push({ name: port, shape })
    },
    graph: { name, nodes, initializers, inputs, outputs },
  }
}

function toBigInt(value: number): bigint {
  if (!Number.isSafeInteger(value)) throw new Error(`${value} is not a size, an axis or a padding`)
  return BigInt(value)
}
