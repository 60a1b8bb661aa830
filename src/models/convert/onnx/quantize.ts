import { foldAffine } from './fold-affine.ts'
import type { Graph, GraphNode, Initializer, InitializerData } from './graph.ts'

/** The lowest and the highest value that each quantized activation had in a measurement. */
export type ActivationRanges = Readonly<Record<string, readonly [min: number, max: number]>>

/**
 * Returns an int8 version of a network in the QDQ format of ONNX: each activation in `ranges` is
 * rounded to 8 bits, and the weights of the convolutions between such activations to 7 bits, with one
 * scale per output channel. The runtime computes these convolutions with integers.
 *
 * Weights have 7 of 8 bits because x86 processors without VNNI add two products in 16 bits: two
 * products of 255 × 63 fit, two of 255 × 127 do not.
 *
 * @param ranges by the name of the value, as `quantizableValues` returns them.
 */
export function quantize(network: Graph, ranges: ActivationRanges): Graph {
  const graph = foldAffine(network)
  const initializers = new Map(graph.initializers.map((tensor) => [tensor.name, tensor]))
  const nodes: GraphNode[] = []
  /** Activation → its rounded value as float32. */
  const rounded = new Map<string, string>()
  const results = activatedResults(graph)

  const addTensor = (name: string, shape: readonly number[], data: InitializerData): string => {
    initializers.set(name, { name, shape, data })
    return name
  }
  const addNode = (operator: string, inputs: string[], output: string, axis?: number): string => {
    nodes.push({ operator, inputs, output, attributes: axis === undefined ? {} : { axis } })
    return output
  }
  const roundActivation = (value: string, range: readonly [number, number]): void => {
    const { scale, zeroPoint } = quantization(range)
    const parameters = [
      addTensor(`${value}_scale`, [], Float32Array.of(scale)),
      addTensor(`${value}_zero`, [], Uint8Array.of(zeroPoint)),
    ]
    const integers = addNode('QuantizeLinear', [value, ...parameters], `${value}_u8`)
    rounded.set(value, addNode('DequantizeLinear', [integers, ...parameters], `${value}_rounded`))
  }
  const roundWeights = (node: GraphNode, inputRange: readonly [number, number]): GraphNode => {
    const [input = '', weightName = '', biasName = ''] = node.inputs
    const weights = requireFloats(initializers.get(weightName), weightName)
    const { scales, integers } = roundPerChannel(weights)
    const zeros = new Int8Array(scales.length)
    const filters = [
      addTensor(`${weightName}_i8`, weights.shape, integers),
      addTensor(`${weightName}_scale`, [scales.length], scales),
      addTensor(`${weightName}_zero`, [scales.length], zeros),
    ]
    const inputs = [input, addNode('DequantizeLinear', filters, `${weightName}_rounded`, 0)]
    const bias = initializers.get(biasName)
    if (bias) {
      const { scale } = quantization(inputRange)
      const biasScales = scales.map((weightScale) => weightScale * scale)
      const data = requireFloats(bias, biasName).data
      const steps = Int32Array.from(data, (value, i) => Math.round(value / (biasScales[i] ?? 1)))
      const parts = [
        addTensor(`${biasName}_i32`, [steps.length], steps),
        addTensor(`${biasName}_scale`, [steps.length], biasScales),
        addTensor(`${biasName}_zero`, [steps.length], new Int32Array(steps.length)),
      ]
      inputs.push(addNode('DequantizeLinear', parts, `${biasName}_rounded`, 0))
    }
    return { ...node, inputs }
  }

  for (const node of graph.nodes) {
    const inputRange = ranges[node.inputs[0] ?? '']
    const result = results.get(node.output) ?? node.output
    const isInteger = node.operator === 'Conv' && inputRange !== undefined && result in ranges
    const whole = isInteger ? roundWeights(node, inputRange) : node
    nodes.push({ ...whole, inputs: whole.inputs.map((input) => rounded.get(input) ?? input) })
    const range = ranges[node.output]
    if (range) roundActivation(node.output, range)
  }
  return { ...graph, nodes, initializers: usedInitializers(nodes, initializers) }
}

/**
 * Returns the values of a network that can be rounded: the inputs of convolutions, and the results of
 * convolutions, sums and poolings behind their activation.
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

/** The output of each node whose only reader is an activation function → the output of that function. */
function activatedResults(graph: Graph): ReadonlyMap<string, string> {
  const readers = new Map<string, GraphNode[]>()
  for (const node of graph.nodes)
    for (const input of node.inputs) readers.set(input, [...(readers.get(input) ?? []), node])
  const results = new Map<string, string>()
  for (const { output } of graph.nodes) {
    const [reader, ...others] = readers.get(output) ?? []
    if (reader && others.length === 0 && ['Relu', 'Clip'].includes(reader.operator))
      results.set(output, reader.output)
  }
  return results
}

/** The value `v` is `round(v / scale) + zeroPoint`, 0 to 255. Zero is exact, because padding is zero. */
function quantization([min, max]: readonly [number, number]) {
  const scale = (Math.max(max, 0) - Math.min(min, 0)) / 255
  return { scale: Math.fround(scale), zeroPoint: Math.round(-Math.min(min, 0) / scale) }
}

/**
 * Rounds filters `[out, in, height, width]` to 8 bits with one scale per output channel: the smallest
 * for which each weight fits, and each sum of two neighbouring input channels of one sign.
 */
function roundPerChannel({ shape, data }: { shape: readonly number[]; data: Float32Array }) {
  const [channels = 1, inputs = 1] = shape
  const perChannel = data.length / channels
  const scales = new Float32Array(channels)
  const integers = new Int8Array(data.length)
  for (let channel = 0; channel < channels; channel++) {
    const filter = data.subarray(channel * perChannel, (channel + 1) * perChannel)
    const scale = Math.fround(filterScale(filter, perChannel / inputs) || 1)
    scales[channel] = scale
    integers.set(
      filter.map((value) => Math.round(value / scale)),
      channel * perChannel,
    )
  }
  return { scales, integers }
}

/** @param window the number of weights of one input channel. */
function filterScale(filter: Float32Array, window: number): number {
  let scale = 0
  for (const [index, value] of filter.entries()) {
    const next = filter[index + window] ?? 0
    const sum = value * next > 0 ? Math.abs(value + next) : 0
    scale = Math.max(scale, Math.abs(value) / weightMax, sum / pairMax)
  }
  return scale
}

const weightMax = 127
/** Two products with activations of up to 255 fit into 16 bits. Rounding can add 1 to the sum. */
const pairMax = 127

function requireFloats(tensor: Initializer | undefined, name: string) {
  if (!(tensor?.data instanceof Float32Array)) throw new Error(`${name} has no float32 weights`)
  return { shape: tensor.shape, data: tensor.data }
}

function usedInitializers(
  nodes: readonly GraphNode[],
  initializers: ReadonlyMap<string, Initializer>,
): Initializer[] {
  const used = new Set(nodes.flatMap(({ inputs }) => inputs))
  return [...initializers.values()].filter(({ name }) => used.has(name))
}
