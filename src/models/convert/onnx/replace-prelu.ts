import { nodeMessage, tensorMessage } from './encode.ts'
import type { GraphNode, Initializer } from './graph.ts'
import { joinMessage, messageField } from './protobuf.ts'
import type { ProtobufMessage } from './protobuf.ts'
import { bytesIn, integersIn, readFields, stringsIn } from './read-fields.ts'
import type { ProtobufField } from './read-fields.ts'

/**
 * The bytes of an `.onnx` file with every PRelu behind a convolution written as
 * `slope · x + (1 − slope) · relu(x)`, the products as convolutions of one pixel and one channel;
 * the same bytes when there is none, or when weights lie in other files.
 *
 * ONNX Runtime computes PRelu one value at a time with a branch, and for it turns its blocks of
 * channels back into planes and into blocks again: half of what a MiniFASNet costs (1.7 + 0.6 of
 * 4.3 ms in its profile). What stands here in its place stays in blocks. Results differ by roundings.
 *
 * Field numbers are those of `onnx.proto`.
 *
 * @throws Error when `file` is no message of protocol buffers.
 */
export function replacePrelu(file: Uint8Array): Uint8Array {
  const model = readFields(file)
  const [graph] = bytesIn(model, 7)
  if (!graph) return file
  const fields = readFields(graph)
  if (hasExternalWeights(fields)) return file
  const slopes = slopesOf(fields)
  const nodes = fields.filter(({ number }) => number === 1).map(decodeNode)
  const maps = new Set(nodes.flatMap((node) => (isConvolution(node) ? node.outputs : [])))
  const weights: Initializer[] = []
  const message: ProtobufMessage = fields.flatMap((field): ProtobufMessage => {
    if (field.number !== 1) return [field.bytes]
    const { operator, inputs, outputs } = decodeNode(field)
    const [x = '', slopeName = ''] = inputs
    const slope = slopes.get(slopeName)
    const [y] = outputs
    if (operator !== 'PRelu' || !slope || y === undefined || !maps.has(x)) return [field.bytes]
    const { nodes: replaced, initializers } = preluReplacement(x, y, slope)
    weights.push(...initializers)
    return replaced.flatMap((node) => messageField(1, nodeMessage(node)))
  })
  if (weights.length === 0) return file
  const added = weights.flatMap((tensor) => messageField(5, tensorMessage(tensor)))
  return joinMessage(
    model.flatMap((field) =>
      field.number === 7 ? messageField(7, [...message, ...added]) : [field.bytes],
    ),
  )
}

/** `slope · x + (1 − slope) · relu(x)`; all names are made from that of the result. */
function preluReplacement(x: string, y: string, slope: Float32Array) {
  const name = (part: string): string => `${y}/without-prelu/${part}`
  const shape = [slope.length, 1, 1, 1]
  const initializers: Initializer[] = [
    { name: name('slope'), shape, data: slope },
    { name: name('rest'), shape, data: slope.map((value) => 1 - value) },
  ]
  const times = (from: string, weight: string, part: string): GraphNode => ({
    operator: 'Conv',
    inputs: [from, name(weight)],
    output: name(part),
    attributes: { group: slope.length, kernel_shape: [1, 1] },
  })
  const nodes: GraphNode[] = [
    { operator: 'Relu', inputs: [x], output: name('relu'), attributes: {} },
    times(x, 'slope', 'below'),
    times(name('relu'), 'rest', 'above'),
    { operator: 'Add', inputs: [name('below'), name('above')], output: y, attributes: {} },
  ]
  return { nodes, initializers }
}

type DecodedNode = {
  readonly operator: string
  readonly inputs: readonly string[]
  readonly outputs: readonly string[]
}

function decodeNode({ value }: ProtobufField): DecodedNode {
  const fields = typeof value === 'number' ? [] : readFields(value)
  return {
    operator: stringsIn(fields, 4)[0] ?? '',
    inputs: stringsIn(fields, 1),
    outputs: stringsIn(fields, 2),
  }
}

/** Their results are surely of the shape [N, channels, height, width] when a slope fits to them. */
function isConvolution({ operator }: DecodedNode): boolean {
  return operator === 'Conv' || operator === 'BatchNormalization'
}

/** A network from memory does not find the files that lie beside its own. */
function hasExternalWeights(graph: readonly ProtobufField[]): boolean {
  const external = 1
  return bytesIn(graph, 5).some((tensor) => integersIn(readFields(tensor), 14).includes(external))
}

/** By name the weights of the shape [channels, 1, 1]: one slope for each channel of a picture. */
function slopesOf(graph: readonly ProtobufField[]): ReadonlyMap<string, Float32Array> {
  const slopes = new Map<string, Float32Array>()
  for (const tensor of bytesIn(graph, 5).map(readFields)) {
    const [name] = stringsIn(tensor, 8)
    const [channels = 0, ...sides] = integersIn(tensor, 1)
    const [type] = integersIn(tensor, 2)
    // Weights are raw bytes (9) or packed floats (4), little-endian both.
    const [bytes] = [...bytesIn(tensor, 9), ...bytesIn(tensor, 4)]
    if (name === undefined || type !== float32 || bytes?.length !== 4 * channels) continue
    if (sides.length === 2 && sides.every((side) => side === 1))
      slopes.set(name, new Float32Array(Uint8Array.from(bytes).buffer))
  }
  return slopes
}

/** Of TensorProto.DataType. */
const float32 = 1
