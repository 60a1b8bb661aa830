import { buildGraph, type Graph } from '../onnx/graph.ts'
import type { FeatureMap } from '../onnx/layers.ts'
import {
  denseLayer,
  convolve,
  createPyTorchBuilder,
  prelu,
  type PyTorchBuilder,
  type ConvolutionWindow,
} from './pytorch-builder.ts'
import type { StateDict } from './state-dict.ts'

export type MiniFasNetArchitecture = 'MiniFASNetV2' | 'MiniFASNetV1SE'

/** px: what the networks were trained on; the last convolution covers all that is left of it. */
const inputSide = 80
const lastKernel = 5

/**
 * minivision's anti-spoofing networks as a graph: `input` `[N, 3, 80, 80]`, BGR 0..255; `output`
 * `[N, classes]`, logits. A MobileFaceNet of which channels were pruned; "SE" weighs the channels of
 * the last block of each stage (squeeze and excitation). Widths are those of the weights.
 * (`src/model_lib/MiniFASNet.py` of minivision-ai/Silent-Face-Anti-Spoofing, Apache-2.0.)
 *
 * @throws Error that names the weights that are missing, of another shape or left over.
 */
export function buildMiniFasNet(architecture: MiniFasNetArchitecture, dict: StateDict): Graph {
  const graph = buildGraph(architecture)
  const network = createPyTorchBuilder(graph, dict)
  const isSe = architecture === 'MiniFASNetV1SE'
  graph.input('input', [3, inputSide, inputSide])
  const input: FeatureMap = { name: 'input', channels: 3, size: [inputSide, inputSide] }
  const half = { kernel: 3, stride: 2, pad: 1 }
  const same = { kernel: 3, pad: 1, isDepthwise: true }

  let map = block(network, input, 'conv1', half)
  map = block(network, map, 'conv2_dw', same)
  map = bottleneck(network, map, 'conv_23', 2)
  map = stage(network, map, { name: 'conv_3', blocks: 4, isSe })
  map = bottleneck(network, map, 'conv_34', 2)
  map = stage(network, map, { name: 'conv_4', blocks: 6, isSe })
  map = bottleneck(network, map, 'conv_45', 2)
  map = stage(network, map, { name: 'conv_5', blocks: 2, isSe })
  map = block(network, map, 'conv_6_sep', { kernel: 1 })
  map = linear(network, map, 'conv_6_dw', { kernel: lastKernel, isDepthwise: true })

  const flat = { name: graph.add('Flatten', [map.name]), channels: map.channels }
  const embedding = denseLayer(network, flat, { layer: 'linear', norm: 'bn' })
  const classes = network.outputsOf('prob.weight')
  const shape = [classes, embedding.channels]
  const weights = graph.floats(network.weights('prob.weight', shape), shape)
  graph.output('output', graph.add('Gemm', [embedding.name, weights], { transB: 1 }), [classes])
  rejectUnusedWeights(architecture, network)
  return graph.graph
}

/** Blocks one after another, each added to what it was given. */
function stage(
  network: PyTorchBuilder,
  input: FeatureMap,
  given: { readonly name: string; readonly blocks: number; readonly isSe: boolean },
): FeatureMap {
  let map = input
  for (let index = 0; index < given.blocks; index++) {
    const name = `${given.name}.model.${index}`
    const made = bottleneck(network, map, name, 1)
    const isLast = index === given.blocks - 1
    const weighed =
      isLast && given.isSe ? squeezeAndExcite(network, made, `${name}.se_module`) : made
    map = { ...made, name: network.graph.add('Add', [map.name, weighed.name]) }
  }
  return map
}

/** To many channels, over each of them, and back to few. */
function bottleneck(
  network: PyTorchBuilder,
  input: FeatureMap,
  name: string,
  stride: number,
): FeatureMap {
  const wide = block(network, input, `${name}.conv`, { kernel: 1 })
  const seen = block(network, wide, `${name}.conv_dw`, {
    kernel: 3,
    stride,
    pad: 1,
    isDepthwise: true,
  })
  return linear(network, seen, `${name}.project`, { kernel: 1 })
}

/** Every channel times a weight of 0..1 that the means of all channels decide. */
function squeezeAndExcite(network: PyTorchBuilder, input: FeatureMap, name: string): FeatureMap {
  const { graph } = network
  const mean = {
    ...input,
    name: graph.add('GlobalAveragePool', [input.name]),
    size: [1, 1],
  } as const
  const fewer = convolve(network, mean, { layer: `${name}.fc1`, norm: `${name}.bn1`, kernel: 1 })
  const kept = { ...fewer, name: graph.add('Relu', [fewer.name]) }
  const back = convolve(network, kept, { layer: `${name}.fc2`, norm: `${name}.bn2`, kernel: 1 })
  const weight = graph.add('Sigmoid', [back.name])
  return { ...input, name: graph.add('Mul', [input.name, weight]) }
}

function block(
  network: PyTorchBuilder,
  input: FeatureMap,
  name: string,
  window: ConvolutionWindow,
): FeatureMap {
  return prelu(network, linear(network, input, name, window), `${name}.prelu`)
}

function linear(
  network: PyTorchBuilder,
  input: FeatureMap,
  name: string,
  window: ConvolutionWindow,
): FeatureMap {
  return convolve(network, input, { layer: `${name}.conv`, norm: `${name}.bn`, ...window })
}

/** Counters of the training say nothing; anything else means that the network is another. */
function rejectUnusedWeights(architecture: MiniFasNetArchitecture, network: PyTorchBuilder): void {
  const left = network.unusedNames().filter((name) => !name.endsWith('.num_batches_tracked'))
  if (left.length > 0)
    throw new Error(`${architecture} has no place for the weights ${left.slice(0, 3).join(', ')}`)
}
