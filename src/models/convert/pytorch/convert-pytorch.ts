import { type Graph, type GraphBuilder, buildGraph, encodeModel } from '../onnx/graph.ts'
import type { FeatureMap } from '../onnx/layers.ts'
import { windowedSize } from '../onnx/layout.ts'
import type { WeightTensor } from '../weights.ts'
import { type StateDict, readStateDict } from './state-dict.ts'

/**
 * Converts PyTorch weights to an ONNX file. The same weights always result in the same bytes.
 *
 * @param fileName the name of the weights file, for error messages.
 * @throws Error that names the file and the reason why its weights do not fit the architecture.
 */
export function convertPytorch(
  architecture: MiniFasNetArchitecture,
  bytes: Uint8Array,
  fileName: string,
): Uint8Array {
  const dict = readStateDict(bytes, fileName)
  try {
    return encodeModel(buildMiniFasNet(architecture, dict))
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`${fileName} does not contain a ${architecture}: ${reason}`, { cause })
  }
}

type MiniFasNetArchitecture = 'MiniFASNetV2' | 'MiniFASNetV1SE'

/** The input size of the training, px. The last convolution covers the remaining 5×5 map completely. */
const inputSide = 80
const lastKernel = 5

/**
 * Builds the graph of an anti-spoofing network of minivision: `input` `[N, 3, 80, 80]`, BGR 0..255;
 * `output` `[N, classes]`, logits. It is a MobileFaceNet with pruned channels. "SE" weights the
 * channels of the last block of each stage (squeeze and excitation). The channel counts come from the
 * weights. Source: `src/model_lib/MiniFASNet.py` of minivision-ai/Silent-Face-Anti-Spoofing,
 * Apache-2.0.
 *
 * @throws Error that names the weights that are missing, unused or of another shape.
 */
function buildMiniFasNet(architecture: MiniFasNetArchitecture, dict: StateDict): Graph {
  const graph = buildGraph(architecture)
  const builder = createPyTorchBuilder(graph, dict)
  const isSe = hasSqueezeAndExcitation[architecture]
  graph.input('input', [3, inputSide, inputSide])
  const input: FeatureMap = { name: 'input', channels: 3, size: [inputSide, inputSide] }
  const half = { kernel: 3, stride: 2, pad: 1 }
  const same = { kernel: 3, pad: 1, isDepthwise: true }

  let map = block(builder, input, 'conv1', half)
  map = block(builder, map, 'conv2_dw', same)
  map = bottleneck(builder, map, 'conv_23', 2)
  map = stage(builder, map, { name: 'conv_3', blocks: 4, isSe })
  map = bottleneck(builder, map, 'conv_34', 2)
  map = stage(builder, map, { name: 'conv_4', blocks: 6, isSe })
  map = bottleneck(builder, map, 'conv_45', 2)
  map = stage(builder, map, { name: 'conv_5', blocks: 2, isSe })
  map = block(builder, map, 'conv_6_sep', { kernel: 1 })
  map = linear(builder, map, 'conv_6_dw', { kernel: lastKernel, isDepthwise: true })

  const flat = { name: graph.add('Flatten', [map.name]), channels: map.channels }
  const embedding = denseLayer(builder, flat, { layer: 'linear', norm: 'bn' })
  const classes = builder.outputsOf('prob.weight')
  const shape = [classes, embedding.channels]
  const weights = graph.floats(builder.weights('prob.weight', shape), shape)
  graph.output('output', graph.add('Gemm', [embedding.name, weights], { transB: 1 }), [classes])
  rejectUnusedWeights(architecture, builder)
  return graph.graph
}

const hasSqueezeAndExcitation: Readonly<Record<MiniFasNetArchitecture, boolean>> = {
  MiniFASNetV2: false,
  MiniFASNetV1SE: true,
}

/** Adds consecutive blocks; the input of each block is added to its output. */
function stage(
  builder: PyTorchBuilder,
  input: FeatureMap,
  options: { readonly name: string; readonly blocks: number; readonly isSe: boolean },
): FeatureMap {
  let map = input
  for (let index = 0; index < options.blocks; index++) {
    const name = `${options.name}.model.${index}`
    const output = bottleneck(builder, map, name, 1)
    const isLast = index === options.blocks - 1
    const weighted =
      isLast && options.isSe ? squeezeAndExcite(builder, output, `${name}.se_module`) : output
    map = { ...output, name: builder.graph.add('Add', [map.name, weighted.name]) }
  }
  return map
}

/** Expands the channels, applies a depthwise convolution, and projects to fewer channels. */
function bottleneck(builder: PyTorchBuilder, input: FeatureMap, name: string, stride: number) {
  const wide = block(builder, input, `${name}.conv`, { kernel: 1 })
  const filtered = block(builder, wide, `${name}.conv_dw`, {
    kernel: 3,
    stride,
    pad: 1,
    isDepthwise: true,
  })
  return linear(builder, filtered, `${name}.project`, { kernel: 1 })
}

/** Multiplies every channel by a weight of 0..1, computed from the means of all channels. */
function squeezeAndExcite(builder: PyTorchBuilder, input: FeatureMap, name: string): FeatureMap {
  const { graph } = builder
  const mean = {
    ...input,
    name: graph.add('GlobalAveragePool', [input.name]),
    size: [1, 1],
  } as const
  const reduced = convolve(builder, mean, { layer: `${name}.fc1`, norm: `${name}.bn1`, kernel: 1 })
  const activated = { ...reduced, name: graph.add('Relu', [reduced.name]) }
  const expanded = convolve(builder, activated, {
    layer: `${name}.fc2`,
    norm: `${name}.bn2`,
    kernel: 1,
  })
  const weight = graph.add('Sigmoid', [expanded.name])
  return { ...input, name: graph.add('Mul', [input.name, weight]) }
}

function block(
  builder: PyTorchBuilder,
  input: FeatureMap,
  name: string,
  window: ConvolutionWindow,
): FeatureMap {
  return prelu(builder, linear(builder, input, name, window), `${name}.prelu`)
}

function linear(
  builder: PyTorchBuilder,
  input: FeatureMap,
  name: string,
  window: ConvolutionWindow,
): FeatureMap {
  return convolve(builder, input, { layer: `${name}.conv`, norm: `${name}.bn`, ...window })
}

/** Training counters are ignored; any other unused weight means another network. */
function rejectUnusedWeights(architecture: MiniFasNetArchitecture, builder: PyTorchBuilder): void {
  const unused = builder.unusedNames().filter((name) => !name.endsWith('.num_batches_tracked'))
  if (unused.length > 0)
    throw new Error(`${architecture} does not use the weights ${unused.slice(0, 3).join(', ')}`)
}

/** The ONNX graph under construction and the weights of a PyTorch network. */
type PyTorchBuilder = ReturnType<typeof createPyTorchBuilder>

function createPyTorchBuilder(graph: GraphBuilder, dict: StateDict) {
  const used = new Set<string>()
  const find = (name: string): WeightTensor => {
    const tensor = dict.get(name)
    if (!tensor) throw new Error(`there are no weights ${name}`)
    used.add(name)
    return tensor
  }
  return {
    graph,
    /** Returns the weights of this name and shape. @throws Error that names missing or other weights. */
    weights: (name: string, shape: readonly number[]): Float32Array => {
      const tensor = find(name)
      if (tensor.shape.join() !== shape.join())
        throw new Error(`${name} has the shape ${tensor.shape.join('×')}, not ${shape.join('×')}`)
      return tensor.data
    },
    /** The number of outputs of a layer: the first axis of its weights. */
    outputsOf: (name: string): number => find(name).shape[0] ?? 0,
    /** The names of the weights that no layer has read. */
    unusedNames: (): readonly string[] => [...dict.keys()].filter((name) => !used.has(name)),
  }
}

type ConvolutionWindow = {
  readonly kernel: number
  readonly stride?: number
  /** Zero padding on every side, px. */
  readonly pad?: number
  /** Whether every channel has a separate filter. */
  readonly isDepthwise?: boolean
}

/** The names of a layer and of the batch normalisation after it. */
type NormalizedLayer = { readonly layer: string; readonly norm: string }

/** Adds a convolution without a bias and its batch normalisation as one convolution with a bias. */
function convolve(
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
function denseLayer(
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
function prelu(builder: PyTorchBuilder, input: FeatureMap, name: string): FeatureMap {
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
