import { foldAffine, readersOf } from './fold-affine.ts'
import type { Graph, GraphNode, Initializer } from './graph.ts'
import { activationRounding, lostMeans, roundFilters } from './round-values.ts'

/** The minimum and maximum of each rounded activation. A value outside becomes the nearest end. */
export type ActivationRanges = Readonly<Record<string, readonly number[]>>

type Quantization = {
  /** By the name of the value. */
  readonly ranges: ActivationRanges
  /**
   * The mean of each input channel of each of `integerConvolutions` in a measurement. With these, the
   * bias contains what the rounding of the weights takes from the mean of each output channel.
   */
  readonly means?: Float32Array
}

/**
 * Returns an int8 version of a network in the QDQ format of ONNX: each activation in `ranges` is
 * rounded to 8 bits, and so are the weights of the convolutions between such activations, with one
 * scale for each output channel. The runtime computes these convolutions with integers.
 *
 * The heads and the first layers are left out of `ranges`: rounding their values costs most of the
 * accuracy and saves little time.
 */
export function quantize(network: Graph, { ranges, means }: Quantization): Graph {
  const graph = foldAffine(network)
  const convolutions = new Set(integerConvolutions(graph, ranges))
  const target: QuantizedGraph = {
    nodes: [],
    initializers: new Map(graph.initializers.map((tensor) => [tensor.name, tensor])),
  }
  /** Activation → its rounded value as float32. */
  const rounded = new Map<string, string>()
  let meanCount = 0
  for (const node of graph.nodes) {
    const inputRange = ranges[node.inputs[0] ?? '']
    let { inputs } = node
    if (inputRange && convolutions.has(node)) {
      const from = meanCount
      meanCount += inputChannels(graph, node)
      const inputMeans = means?.subarray(from, meanCount)
      inputs = roundConvolution(target, node, { inputRange, inputMeans })
    }
    target.nodes.push({ ...node, inputs: inputs.map((input) => rounded.get(input) ?? input) })
    const range = ranges[node.output]
    if (range) rounded.set(node.output, roundActivation(target, node.output, range))
  }
  return { ...graph, nodes: target.nodes, initializers: usedInitializers(target) }
}

/** Returns the convolutions that a quantization with these ranges computes with integers. */
export function integerConvolutions(network: Graph, ranges: ActivationRanges): GraphNode[] {
  const results = activatedResults(network)
  return network.nodes.filter(({ operator, inputs: [input = ''], output }) => {
    const result = results.get(output) ?? output
    return operator === 'Conv' && input in ranges && result in ranges
  })
}

/** The output of each node whose only reader is an activation function → the output of that function. */
export function activatedResults(graph: Graph): ReadonlyMap<string, string> {
  const readers = readersOf(graph)
  const results = new Map<string, string>()
  for (const { output } of graph.nodes) {
    const [reader, ...others] = readers.get(output) ?? []
    if (reader && others.length === 0 && ['Relu', 'Clip'].includes(reader.operator))
      results.set(output, reader.output)
  }
  return results
}

/** The graph under construction. */
type QuantizedGraph = {
  readonly nodes: GraphNode[]
  readonly initializers: Map<string, Initializer>
}

/** Adds the rounding of an activation. Returns the name of the rounded value. */
function roundActivation(graph: QuantizedGraph, value: string, range: readonly number[]): string {
  const { scale, zeroPoint } = activationRounding(range)
  const parameters = [
    addTensor(graph, { name: `${value}_scale`, shape: [], data: Float32Array.of(scale) }),
    addTensor(graph, { name: `${value}_zero`, shape: [], data: Uint8Array.of(zeroPoint) }),
  ]
  const integers = `${value}_u8`
  const inputs = [value, ...parameters]
  graph.nodes.push({ operator: 'QuantizeLinear', inputs, output: integers, attributes: {} })
  return addDequantization(graph, [integers, ...parameters], `${value}_rounded`)
}

type ConvolutionInput = {
  readonly inputRange: readonly number[]
  /** The mean of each channel. */
  readonly inputMeans: Float32Array | undefined
}

/** Adds the weights and the bias of a convolution as integers. Returns its inputs. */
function roundConvolution(
  graph: QuantizedGraph,
  { inputs: [input = '', filtersName = '', biasName] }: GraphNode,
  { inputRange, inputMeans }: ConvolutionInput,
): string[] {
  const filters = requireFloats(graph, filtersName)
  const rounded = roundFilters(filters.shape, filters.data)
  const { scales, integers } = rounded
  const inputs = [input, addIntegers(graph, { ...filters, data: integers }, scales)]
  if (biasName !== undefined) {
    const bias = requireFloats(graph, biasName)
    const lost = inputMeans && lostMeans(filters, rounded, inputMeans)
    const { scale } = activationRounding(inputRange)
    const biasScales = scales.map((filterScale) => filterScale * scale)
    const steps = Int32Array.from(bias.data, (value, i) =>
      Math.round((value + (lost?.[i] ?? 0)) / (biasScales[i] ?? 1)),
    )
    inputs.push(addIntegers(graph, { ...bias, data: steps }, biasScales))
  }
  return inputs
}

/** Returns the number of input channels of a convolution, of all its groups. */
export function inputChannels({ initializers }: Graph, { inputs, attributes }: GraphNode): number {
  const [, perGroup = 1] = initializers.find(({ name }) => name === inputs[1])?.shape ?? []
  return perGroup * Number(attributes['group'] ?? 1)
}

/** Adds weights as integers with one scale per channel. Returns the name of their values. */
function addIntegers(
  graph: QuantizedGraph,
  { name, shape, data }: Initializer,
  scales: Float32Array,
): string {
  const zeros =
    data instanceof Int8Array ? new Int8Array(scales.length) : new Int32Array(scales.length)
  const inputs = [
    addTensor(graph, { name: `${name}_integers`, shape, data }),
    addTensor(graph, { name: `${name}_scale`, shape: [scales.length], data: scales }),
    addTensor(graph, { name: `${name}_zero`, shape: [scales.length], data: zeros }),
  ]
  return addDequantization(graph, inputs, `${name}_rounded`, { axis: 0 })
}

function addTensor({ initializers }: QuantizedGraph, tensor: Initializer): string {
  initializers.set(tensor.name, tensor)
  return tensor.name
}

function addDequantization(
  { nodes }: QuantizedGraph,
  inputs: readonly string[],
  output: string,
  attributes: GraphNode['attributes'] = {},
): string {
  nodes.push({ operator: 'DequantizeLinear', inputs, output, attributes })
  return output
}

function requireFloats({ initializers }: QuantizedGraph, name: string) {
  const { shape, data } = initializers.get(name) ?? { shape: [], data: undefined }
  if (!(data instanceof Float32Array)) throw new Error(`${name} has no float32 weights`)
  return { name, shape, data }
}

function usedInitializers({ nodes, initializers }: QuantizedGraph): Initializer[] {
  const used = new Set(nodes.flatMap(({ inputs }) => inputs))
  return [...initializers.values()].filter(({ name }) => used.has(name))
}
