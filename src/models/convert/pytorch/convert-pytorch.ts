import { encodeModel } from '../onnx/encode.ts'
import { buildGraph, type Graph } from '../onnx/graph.ts'
import type { FeatureMap } from '../onnx/layers.ts'
import { denseLayer, convolve, createPyTorchBuilder, prelu } from './pytorch-builder.ts'
import type { PyTorchBuilder, ConvolutionWindow } from './pytorch-builder.ts'
import { readStateDict, type StateDict } from './state-dict.ts'

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
function bottleneck(
  builder: PyTorchBuilder,
  input: FeatureMap,
  name: string,
  stride: number,
): FeatureMap {
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
