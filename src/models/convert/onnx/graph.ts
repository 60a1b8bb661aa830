import {
  type ProtobufMessage,
  bytesField,
  integerField,
  joinMessage,
  messageField,
  stringField,
} from './protobuf.ts'

/**
 * Builds an ONNX graph node by node. Values have numbered names, so the same calls create the same
 * bytes on every machine.
 */
export type GraphBuilder = ReturnType<typeof buildGraph>

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
type NodeAttribute = number | string | readonly number[]

export type Initializer = {
  readonly name: string
  readonly shape: readonly number[]
  readonly data: InitializerData
}

/** Values of float32, int64, int32, int8 and uint8. */
type InitializerData = Float32Array | BigInt64Array | Int32Array | Int8Array | Uint8Array

/** An input or output: float32; the shape is without the batch dimension. */
type GraphPort = { readonly name: string; readonly shape: PortShape }

/** A dimension of variable size has a name instead of a number. */
type PortShape = readonly (number | string)[]

export function buildGraph(name: string) {
  const nodes: GraphNode[] = []
  const initializers: Initializer[] = []
  const inputs: GraphPort[] = []
  const outputs: GraphPort[] = []

  /** Adds a node with one output and returns the name of the output. */
  const add = (
    operator: string,
    from: readonly string[],
    attributes: Readonly<Record<string, NodeAttribute>> = {},
  ): string => {
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
    /** Adds a float32 tensor of weights; a scalar has the shape `[]`. */
    floats: (data: Float32Array | readonly number[], shape: readonly number[]): string =>
      addInitializer(shape, new Float32Array(data)),
    /** Adds a one-dimensional int64 tensor: shapes, axes, paddings. */
    integers: (values: readonly number[]): string =>
      addInitializer([values.length], BigInt64Array.from(values, toBigInt)),
    /** Declares an input; `shape` is the shape for one image, without the batch dimension. */
    input: (port: string, shape: PortShape): void => void inputs.push({ name: port, shape }),
    /** Declares the value `from` as an output with the given name. */
    output: (port: string, from: string, shape: PortShape): void => {
      nodes.push({ operator: 'Identity', inputs: [from], output: port, attributes: {} })
      outputs.push({ name: port, shape })
    },
    graph: { name, nodes, initializers, inputs, outputs } satisfies Graph,
  }
}

function toBigInt(value: number): bigint {
  if (!Number.isSafeInteger(value)) throw new Error(`${value} is not a size, an axis or a padding`)
  return BigInt(value)
}

/** The file format version of operator set 13. */
const irVersion = 7
/** The first operator set in which every operator of the pack has its current form. */
const operatorSet = 13

/** Values of TensorProto.DataType. */
const dataType = { float32: 1, uint8: 2, int8: 3, int32: 6, int64: 7 } as const
/** Values of AttributeProto.AttributeType. */
const attributeType = { integer: 2, string: 3, integers: 7 } as const

/**
 * Encodes a graph as the bytes of an `.onnx` file. Field numbers are those of `onnx.proto`. The batch
 * dimension is the symbol `N` before the shape of every input and output.
 */
export function encodeModel({ name, nodes, initializers, inputs, outputs }: Graph): Uint8Array {
  const graph: ProtobufMessage = [
    ...nodes.flatMap((node) => messageField(1, nodeMessage(node))),
    ...stringField(2, name),
    ...initializers.flatMap((tensor) => messageField(5, tensorMessage(tensor))),
    ...inputs.flatMap((port) => messageField(11, portMessage(port))),
    ...outputs.flatMap((port) => messageField(12, portMessage(port))),
  ]
  return joinMessage([
    ...integerField(1, irVersion),
    ...stringField(2, 'facegate'),
    ...messageField(7, graph),
    ...messageField(8, [...stringField(1, ''), ...integerField(2, operatorSet)]),
  ])
}

/** Encodes a node as `NodeProto`. */
export function nodeMessage({ operator, inputs, output, attributes }: GraphNode): ProtobufMessage {
  return [
    ...inputs.flatMap((input) => stringField(1, input)),
    ...stringField(2, output),
    ...stringField(3, output),
    ...stringField(4, operator),
    ...Object.entries(attributes).flatMap(([name, value]) =>
      messageField(5, [...stringField(1, name), ...attributeFields(value)]),
    ),
  ]
}

function attributeFields(value: NodeAttribute): ProtobufMessage {
  if (typeof value === 'number')
    return [...integerField(3, value), ...integerField(20, attributeType.integer)]
  if (typeof value === 'string')
    return [...stringField(4, value), ...integerField(20, attributeType.string)]
  const items = value.flatMap((item) => integerField(8, item))
  return [...items, ...integerField(20, attributeType.integers)]
}

/**
 * Encodes a tensor as `TensorProto`. Raw data is little-endian in ONNX, as in the memory of every
 * processor that Node.js supports.
 */
export function tensorMessage({ name, shape, data }: Initializer): ProtobufMessage {
  return [
    ...shape.flatMap((size) => integerField(1, size)),
    ...integerField(2, dataTypeOf(data)),
    ...stringField(8, name),
    ...bytesField(9, new Uint8Array(data.buffer, data.byteOffset, data.byteLength)),
  ]
}

function dataTypeOf(data: InitializerData): number {
  if (data instanceof Float32Array) return dataType.float32
  if (data instanceof Uint8Array) return dataType.uint8
  if (data instanceof Int8Array) return dataType.int8
  return data instanceof Int32Array ? dataType.int32 : dataType.int64
}

function portMessage({ name, shape }: GraphPort): ProtobufMessage {
  const dimensions = [
    ...messageField(1, stringField(2, 'N')),
    ...shape.flatMap((size) =>
      messageField(1, typeof size === 'number' ? integerField(1, size) : stringField(2, size)),
    ),
  ]
  const tensorType = [...integerField(1, dataType.float32), ...messageField(2, dimensions)]
  return [...stringField(1, name), ...messageField(2, messageField(1, tensorType))]
}
