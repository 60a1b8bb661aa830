import type { FeatureMap } from '../onnx/layers.ts'
import type { GraphBuilder } from '../onnx/graph.ts'
import { windowedSize } from '../onnx/layout.ts'
import type { WeightTensor } from '../weights.ts'
import type { StateDict } from './state-dict.ts'

/** A graph in the making and the weights that it is made of. */
export type PyTorchBuilder = {
  readonly graph: GraphBuilder
  /** The weights of this name and shape. @throws Error that names them when they are not there. */
  readonly weights: (name: string, shape: readonly number[]) => Float32Array
  /** How many outputs a layer has: the first axis of its weights. */
  readonly outputsOf: (name: string) => number
  /** Names of the weights that no layer has asked for. */
  readonly unusedNames: () => readonly string[]
}

export function createPyTorchBuilder(graph: GraphBuilder, dict: StateDict): PyTorchBuilder {
  const used = new Set<string>()
  const find = (name: string): WeightTensor => {
    const found = dict.get(name)
    if (!found) throw new Error(`there are no weights ${name}`)
    used.add(name)
    return found
  }
  return {
    graph,
    weights: (name, shape) => {
      const found = find(name)
      if (found.shape.join() !== shape.join())
        throw new Error(`${name} has the shape ${found.shape.join('×')}, not ${shape.join('×')}`)
      return found.data
    },
    outputsOf: (name) => find(name).shape[0] ?? 0,
    unusedNames: () => [...dict.keys()].filter((name) => !used.has(name)),
  }
}

export type ConvolutionWindow = {
  readonly kernel: number
  readonly stride?: number
  /** Pixels of zeros on every side. */
  readonly pad?: number
  /** Whether every channel has a filter of its own. */
  readonly isDepthwise?: boolean
}

/** The names of a convolution and of the batch normalisation after it. */
export type NormalizedLayer = { readonly layer: string; readonly norm: string }

/** A convolution without a bias and its batch normalisation, as one convolution with a bias. */
export function convolve(
  network: PyTorchBuilder,
  input: FeatureMap,
  {
    layer,
    norm,
    kernel,
    stride = 1,
    pad = 0,
    isDepthwise = false,
  }: NormalizedLayer & ConvolutionWindow,
): FeatureMap {
  const { graph } = network
  const channels = network.outputsOf(`${layer}.weight`)
  const group = isDepthwise ? channels : 1
  const shape = [channels, input.channels / group, kernel, kernel]
  const { filters, bias } = foldBatchNorm(network, { layer, norm }, shape)
  const pads = [pad, pad, pad, pad] as const
  const weights = [graph.floats(filters, shape), graph.floats(bias, [channels])]
  const attributes = { kernel_shape: [kernel, kernel], strides: [stride, stride], pads, group }
  const window = { kernel: [kernel, kernel], stride: [stride, stride], pads } as const
  return {
    name: graph.add('Conv', [input.name, ...weights], attributes),
    channels,
    size: windowedSize(input.size, window),
  }
}

/** A fully connected layer without a bias and its batch normalisation. */
export function denseLayer(
  network: PyTorchBuilder,
  input: { readonly name: string; readonly channels: number },
  names: NormalizedLayer,
): { readonly name: string; readonly channels: number } {
  const channels = network.outputsOf(`${names.layer}.weight`)
  const shape = [channels, input.channels]
  const { filters, bias } = foldBatchNorm(network, names, shape)
  const { graph } = network
  const weights = [graph.floats(filters, shape), graph.floats(bias, [channels])]
  return { channels, name: graph.add('Gemm', [input.name, ...weights], { transB: 1 }) }
}

/** `x` where it is positive, else `x` times the slope of its channel. */
export function prelu(network: PyTorchBuilder, input: FeatureMap, name: string): FeatureMap {
  const slopes = network.weights(`${name}.weight`, [input.channels])
  const constant = network.graph.floats(slopes, [input.channels, 1, 1])
  return { ...input, name: network.graph.add('PRelu', [input.name, constant]) }
}

/** What torch adds to a variance before its root, when nothing else is said. */
const epsilon = 1e-5

/**
 * The normalisation of a trained network, `γ·(x − mean)/√(variance + ε) + β`, put into the filters
 * and a bias. In double precision; rounded once.
 */
function foldBatchNorm(
  network: PyTorchBuilder,
  { layer, norm }: NormalizedLayer,
  shape: readonly number[],
) {
  const [channels = 0] = shape
  const weights = network.weights(`${layer}.weight`, shape)
  const read = (name: string): Float32Array => network.weights(`${norm}.${name}`, [channels])
  const variance = read('running_var')
  const mean = read('running_mean')
  const beta = read('bias')
  const factors = Array.from(
    read('weight'),
    (gamma, channel) => gamma / Math.sqrt((variance[channel] ?? 0) + epsilon),
  )
  const perChannel = weights.length / channels
  return {
    filters: weights.map((value, at) => value * (factors[Math.floor(at / perChannel)] ?? 0)),
    bias: beta.map((value, channel) => value - (mean[channel] ?? 0) * (factors[channel] ?? 0)),
  }
}
