import type { GraphBuilder } from '../onnx/graph.ts'
import { convolve, pool, type Convolution, type FeatureMap, type Padding } from '../onnx/layers.ts'
import type { WeightTensor } from '../weights.ts'

/**
 * The ONNX graph under construction and the weights of a face-api network. face-api contains weights
 * without a graph: the layers are in its source code, and each network file here follows the
 * corresponding file there.
 */
export type FaceApiBuilder = {
  readonly graph: GraphBuilder
  readonly weights: ReadonlyMap<string, WeightTensor>
}

export function findWeights({ weights }: FaceApiBuilder, name: string): WeightTensor {
  const tensor = weights.get(name)
  if (!tensor) throw new Error(`there are no weights ${name}`)
  return tensor
}

/** The mean colour, RGB, that NetInput of face-api subtracts for every network on face crops. */
const meanColour = [122.782, 117.001, 104.298]

/**
 * Adds the input of the networks on face crops, a square image, RGB, 0..255, as `(x − mean) / 255`. These are separate operators: if
 * the mean were folded into a convolution with zero padding, it would be wrong at the border.
 */
export function normalizedInput({ graph }: FaceApiBuilder, sidePx: number): FeatureMap {
  graph.input('input', [3, sidePx, sidePx])
  const centred = graph.add('Sub', ['input', graph.floats(meanColour, [1, 3, 1, 1])])
  const name = graph.add('Mul', [centred, graph.floats([1 / 255], [])])
  return { name, size: [sidePx, sidePx], channels: 3 }
}

export type LayerOptions = {
  readonly stride?: number
  readonly padding?: Convolution['padding']
  /** One factor for each output channel, folded into the filters. */
  readonly scale?: Float32Array
} & Pick<Convolution, 'bias' | 'isDepthwise'>

/** Adds a convolution with the filters of the given name. */
export function convolutionLayer(
  builder: FaceApiBuilder,
  input: FeatureMap,
  filtersName: string,
  { stride = 1, padding = 'SAME', scale, bias, isDepthwise = false }: LayerOptions,
): FeatureMap {
  const filters = findWeights(builder, filtersName)
  return convolve(builder.graph, input, {
    filters: scale ? scaleFilters(filters, scale) : filters,
    bias,
    stride: [stride, stride],
    padding,
    isDepthwise,
  })
}

/** Adds a convolution with `<prefix>/filters` and `<prefix>/bias` that halves the size. */
export function downsamplingLayer(builder: FaceApiBuilder, input: FeatureMap, prefix: string) {
  const bias = findWeights(builder, `${prefix}/bias`).data
  return convolutionLayer(builder, input, `${prefix}/filters`, { stride: 2, bias })
}

/** Adds a pooling layer of `side` × `side` px that halves the size. */
export function downsamplingPool(
  { graph }: FaceApiBuilder,
  kind: 'MaxPool' | 'AveragePool',
  input: FeatureMap,
  { side, padding }: { readonly side: number; readonly padding: Padding },
): FeatureMap {
  return pool(graph, kind, input, { kernel: [side, side], stride: [2, 2], padding })
}

/** Adds a depthwise convolution followed by a pointwise convolution. */
export function separableLayer(
  builder: FaceApiBuilder,
  input: FeatureMap,
  prefix: string,
  stride = 1,
): FeatureMap {
  const filtered = convolutionLayer(builder, input, `${prefix}/depthwise_filter`, {
    stride,
    isDepthwise: true,
  })
  return convolutionLayer(builder, filtered, `${prefix}/pointwise_filter`, {
    bias: findWeights(builder, `${prefix}/bias`).data,
  })
}

export function relu({ graph }: FaceApiBuilder, input: FeatureMap): FeatureMap {
  return { ...input, name: graph.add('Relu', [input.name]) }
}

export function add({ graph }: FaceApiBuilder, a: FeatureMap, b: FeatureMap): FeatureMap {
  if (a.size.join() !== b.size.join() || a.channels !== b.channels)
    throw new Error('only feature maps of the same shape can be added')
  return { ...a, name: graph.add('Add', [a.name, b.name]) }
}

export function flatten({ graph }: FaceApiBuilder, input: FeatureMap): string {
  return graph.add('Flatten', [input.name], { axis: 1 })
}

/** Adds a dense layer with `<prefix>/weights` `[in, out]` and `<prefix>/bias`. */
export function denseLayer(builder: FaceApiBuilder, features: string, prefix: string): string {
  const weights = findWeights(builder, `${prefix}/weights`)
  const bias = findWeights(builder, `${prefix}/bias`)
  const { graph } = builder
  return graph.add('Gemm', [
    features,
    graph.floats(weights.data, weights.shape),
    graph.floats(bias.data, bias.shape),
  ])
}

/** In TensorFlow's layout the output channel is the fastest axis, in depthwise filters too. */
function scaleFilters({ shape, data }: WeightTensor, scale: Float32Array): WeightTensor {
  return { shape, data: data.map((value, index) => value * (scale[index % scale.length] ?? 1)) }
}
