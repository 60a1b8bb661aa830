import type { FeatureMap } from '../onnx/layers.ts'
import type { GraphBuilder } from '../onnx/graph.ts'
import { windowedSize } from '../onnx/layout.ts'
import type { WeightTensor } from '../weights.ts'
import type { StateDict } from './state-dict.ts'

/** The ONNX graph under construction and the weights of a PyTorch network. */
export type PyTorchBuilder = {
  readonly graph: GraphBuilder
  /** Returns the weights of this name and shape. @throws Error that names missing or other weights. */
  readonly weights: (name: string, shape: readonly number[]) => Float32Array
  /** The number of outputs of a layer: the first axis of its weights. */
  readonly outputsOf: (name: string) => number
  /** The names of the weights that no layer has read. */
  readonly unusedNames: () => readonly string[]
}

export function createPyTorchBuilder(graph: GraphBuilder, dict: StateDict): PyTorchBuilder {
  const used = new Set<string>()
  const find = (name: string): WeightTensor => {
    const tensor = dict.get(name)
    if (!tensor) throw new Error(`there are no weights ${name}`)
    used.add(name)
    return tensor
  }
  return {
    graph,
    weights: (name, shape) => {
      const tensor = find(name)
      if (tensor.shape.join() !== shape.join())
        throw new Error(`${name} has the shape ${tensor.shape.join('×')}, not ${shape.join('×')}`)
      return tensor.data
    },
    outputsOf: (name) => find(name).shape[0] ?? 0,
    unusedNames: () => [...dict.keys()].filter((name) => !used.has(name)),
  }
}

export type ConvolutionWindow = {
  readonly kernel: number
  readonly stride?: number
  /** Zero padding on every side, px. */
  readonly pad?: number
  /** Whether every channel has a separate filter. */
  readonly isDepthwise?: boolean
}

/** The names of a layer and of the batch normalisation after it. */
export type NormalizedLayer = { readonly layer: string; readonly norm: string }

/** Adds a convolution without a bias and its batch normalisation as one convolution with a bias. */
export function convolve(
  builder: PyTorchBuilder,
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
  const { graph } = builder
  const channels = builder.outputsOf(`${layer}.weight`)
  const group = isDepthwise ? channels : 1
  const shape = [channels, input.channels / group, kernel, kernel]
  const { filters, bias } = foldBatchNorm(builder, { layer, norm }, shape)
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

/** Adds a dense layer without a bias and its batch normalisation as one layer with a bias. */
export function denseLayer(
  builder: PyTorchBuilder,
  input: { readonly name: string; readonly channels: number },
  names: NormalizedLayer,
): { readonly name: string; readonly channels: number } {
  const channels = builder.outputsOf(`${names.layer}.weight`)
  const shape = [channels, input.channels]
  const { filters, bias } = foldBatchNorm(builder, names, shape)
  const { graph } = builder
  const weights = [graph.floats(filters, shape), graph.floats(bias, [channels])]
  return { channels, name: graph.add('Gemm', [input.name, ...weights], { transB: 1 }) }
}

/** Adds a PReLU: positive values are unchanged, others are multiplied by the slope of the channel. */
export function prelu(builder: PyTorchBuilder, input: FeatureMap, name: string): FeatureMap {
  const slopes = builder.weights(`${name}.weight`, [input.channels])
  const constant = builder.graph.floats(slopes, [input.channels, 1, 1])
  return { ...input, name: builder.graph.add('PRelu', [input.name, constant]) }
}

/** The default epsilon of PyTorch, added to the variance. */
const epsilon = 1e-5

/**
 * Folds the batch normalisation `γ·(x − mean)/√(variance + ε) + β` into the filters and a bias. The
 * computation is in double precision and rounded once.
 */
function foldBatchNorm(
  builder: PyTorchBuilder,
  { layer, norm }: NormalizedLayer,
  shape: readonly number[],
) {
  const [channels = 0] = shape
  const weights = builder.weights(`${layer}.weight`, shape)
  const read = (name: string): Float32Array => builder.weights(`${norm}.${name}`, [channels])
  const variance = read('running_var')
  const mean = read('running_mean')
  const beta = read('bias')
  const factors = Array.from(
    read('weight'),
    (gamma, channel) => gamma / Math.sqrt((variance[channel] ?? 0) + epsilon),
  )
  const perChannel = weights.length / channels
  return {
    filters: weights.map((value, index) => value * (factors[Math.floor(index / perChannel)] ?? 0)),
    bias: beta.map((value, channel) => value - (mean[channel] ?? 0) * (factors[channel] ?? 0)),
  }
}
