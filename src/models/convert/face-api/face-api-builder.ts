import { buildGraph } from '../onnx/graph.ts'
import type { GraphBuilder } from '../onnx/graph.ts'
import { convolve } from '../onnx/layers.ts'
import type { Convolution, FeatureMap, Padding } from '../onnx/layers.ts'
import type { WeightTensor } from '../weights.ts'

/**
 * A face-api network on its way to ONNX. face-api ships weights without a graph: the layers are in
 * its source code, and each network's file here follows the file of the same purpose there.
 */
export type FaceApiBuilder = {
  readonly graph: GraphBuilder
  readonly weights: ReadonlyMap<string, WeightTensor>
}

export function createFaceApiBuilder(
  name: string,
  weights: ReadonlyMap<string, WeightTensor>,
): FaceApiBuilder {
  return { graph: buildGraph(name), weights }
}

export function findWeights({ weights }: FaceApiBuilder, name: string): WeightTensor {
  const found = weights.get(name)
  if (!found) throw new Error(`there are no weights ${name}`)
  return found
}

/** Declares the input: a square picture, RGB, 0..255. */
export function squareInput({ graph }: FaceApiBuilder, sidePx: number): FeatureMap {
  graph.input('input', [3, sidePx, sidePx])
  return { name: 'input', size: [sidePx, sidePx], channels: 3 }
}

/** The mean colour, RGB, that face-api's NetInput subtracts for every network on faces. */
const meanColour = [122.782, 117.001, 104.298]

/**
 * The input of the networks on faces: `(x − mean) / 255`. These are operations of their own: folded
 * into a convolution that pads with zeros, the mean would be wrong at the border.
 */
export function normalizedInput(network: FaceApiBuilder, sidePx: number): FeatureMap {
  const { graph } = network
  const input = squareInput(network, sidePx)
  const centred = graph.add('Sub', [input.name, graph.floats(meanColour, [1, 3, 1, 1])])
  return { ...input, name: graph.add('Mul', [centred, graph.floats([1 / 255], [])]) }
}

export type LayerOptions = {
  readonly stride?: number
  readonly padding?: Padding
  /** A factor per output channel, folded into the filters. */
  readonly scale?: Float32Array
} & Pick<Convolution, 'bias' | 'isDepthwise'>

/** A convolution with the filters of that name. */
export function convolutionLayer(
  network: FaceApiBuilder,
  input: FeatureMap,
  filtersName: string,
  { stride = 1, padding = 'SAME', scale, bias, isDepthwise = false }: LayerOptions,
): FeatureMap {
  const filters = findWeights(network, filtersName)
  return convolve(network.graph, input, {
    filters: scale ? scaleFilters(filters, scale) : filters,
    bias,
    stride: [stride, stride],
    padding,
    isDepthwise,
  })
}

/** A depthwise convolution and a pointwise one, as one layer. */
export function separableLayer(
  network: FaceApiBuilder,
  input: FeatureMap,
  prefix: string,
  stride = 1,
): FeatureMap {
  const filtered = convolutionLayer(network, input, `${prefix}/depthwise_filter`, {
    stride,
    isDepthwise: true,
  })
  return convolutionLayer(network, filtered, `${prefix}/pointwise_filter`, {
    bias: findWeights(network, `${prefix}/bias`).data,
  })
}

export function relu({ graph }: FaceApiBuilder, input: FeatureMap): FeatureMap {
  return { ...input, name: graph.add('Relu', [input.name]) }
}

export function add({ graph }: FaceApiBuilder, a: FeatureMap, b: FeatureMap): FeatureMap {
  if (a.size.join() !== b.size.join() || a.channels !== b.channels)
    throw new Error('only feature maps of one shape can be added')
  return { ...a, name: graph.add('Add', [a.name, b.name]) }
}

export function flatten({ graph }: FaceApiBuilder, input: FeatureMap): string {
  return graph.add('Flatten', [input.name], { axis: 1 })
}

/** A dense layer with `<prefix>/weights` `[in, out]` and `<prefix>/bias`. */
export function denseLayer(network: FaceApiBuilder, features: string, prefix: string): string {
  const weights = findWeights(network, `${prefix}/weights`)
  const bias = findWeights(network, `${prefix}/bias`)
  const { graph } = network
  return graph.add('Gemm', [
    features,
    graph.floats(weights.data, weights.shape),
    graph.floats(bias.data, bias.shape),
  ])
}

/** In TensorFlow's layout the output channels are the fastest axis, depthwise or not. */
function scaleFilters({ shape, data }: WeightTensor, scale: Float32Array): WeightTensor {
  return { shape, data: data.map((value, index) => value * (scale[index % scale.length] ?? 1)) }
}
