import { buildGraph, type Graph } from '../onnx/graph.ts'
import type { FeatureMap, Padding } from '../onnx/layers.ts'
import { readWeights, type WeightsGroup } from '../weights.ts'
import {
  add,
  denseLayer,
  downsamplingLayer,
  downsamplingPool,
  flatten,
  normalizedInput,
  relu,
  separableLayer,
  convolutionLayer,
  findWeights,
  type FaceApiBuilder,
} from './face-api-builder.ts'
import { buildSsdMobilenetv1 } from './ssd-mobilenetv1.ts'

/** Converts a face-api network to an ONNX graph. */
export function convertFaceApi(
  name: FaceApiNetworkName,
  source: { readonly manifest: readonly [WeightsGroup]; readonly weights: Uint8Array },
): Graph {
  const graph = buildGraph(name)
  architectures[name]({ graph, weights: readWeights(source.manifest[0], source.weights) })
  return graph.graph
}

export type FaceApiNetworkName = keyof typeof architectures

const architectures = {
  ssd_mobilenetv1: buildSsdMobilenetv1,
  face_landmark_68: buildFaceLandmark68,
  face_recognition: buildFaceRecognition,
  face_expression: buildFaceExpression,
  age_gender: buildAgeGender,
} satisfies Readonly<Record<string, (builder: FaceApiBuilder) => void>>

/** Age in years and the probabilities of two genders for a square image (112 px): TinyXception. */
function buildAgeGender(builder: FaceApiBuilder): void {
  const { graph } = builder
  const map = xception(builder)
  const pooled = downsamplingPool(builder, 'AveragePool', map, { side: 7, padding: 'VALID' })
  const features = flatten(builder, pooled)
  graph.output('age', denseLayer(builder, features, 'fc/age'), [1])
  const logits = denseLayer(builder, features, 'fc/gender')
  graph.output('gender', graph.add('Softmax', [logits], { axis: -1 }), [2])
}

function xception(builder: FaceApiBuilder): FeatureMap {
  const input = downsamplingLayer(builder, normalizedInput(builder, 112), 'entry_flow/conv_in')
  const entry = reductionBlock(builder, relu(builder, input), 'entry_flow/reduction_block_0')
  let features = activatedReductionBlock(builder, entry, 'entry_flow/reduction_block_1')
  for (const prefix of ['middle_flow/main_block_0', 'middle_flow/main_block_1'])
    features = mainBlock(builder, features, prefix)
  features = activatedReductionBlock(builder, features, 'exit_flow/reduction_block')
  return relu(builder, separableLayer(builder, features, 'exit_flow/separable_conv'))
}

/** Halves the size of the feature map; the shortcut is taken before the activation. */
function activatedReductionBlock(builder: FaceApiBuilder, input: FeatureMap, prefix: string) {
  return reductionBlock(builder, input, prefix, relu(builder, input))
}

function reductionBlock(
  builder: FaceApiBuilder,
  input: FeatureMap,
  prefix: string,
  activated = input,
): FeatureMap {
  const first = separableLayer(builder, activated, `${prefix}/separable_conv0`)
  const second = separableLayer(builder, relu(builder, first), `${prefix}/separable_conv1`)
  const reduced = downsamplingPool(builder, 'MaxPool', second, { side: 3, padding: 'SAME' })
  const shortcut = downsamplingLayer(builder, input, `${prefix}/expansion_conv`)
  return add(builder, reduced, shortcut)
}

function mainBlock(builder: FaceApiBuilder, input: FeatureMap, prefix: string): FeatureMap {
  let features = input
  for (const layer of ['separable_conv0', 'separable_conv1', 'separable_conv2'])
    features = separableLayer(builder, relu(builder, features), `${prefix}/${layer}`)
  return add(builder, features, input)
}

/** 68 points, x and y alternating, as fractions of the square image (112 px). */
function buildFaceLandmark68(builder: FaceApiBuilder): void {
  const landmarks = denseLayer(builder, faceFeatures(builder), 'fc')
  builder.graph.output('landmarks', landmarks, [136])
}

/** Probabilities of seven expressions for a square image (112 px). */
function buildFaceExpression(builder: FaceApiBuilder): void {
  const logits = denseLayer(builder, faceFeatures(builder), 'fc')
  const { graph } = builder
  graph.output('probabilities', graph.add('Softmax', [logits], { axis: -1 }), [7])
}

/** FaceFeatureExtractor of face-api: four dense blocks, 256 features. */
function faceFeatures(builder: FaceApiBuilder): string {
  let features = normalizedInput(builder, 112)
  for (const [index, prefix] of ['dense0', 'dense1', 'dense2', 'dense3'].entries())
    features = denseBlock(builder, features, { prefix, isFirst: index === 0 })
  const pooled = downsamplingPool(builder, 'AveragePool', features, { side: 7, padding: 'VALID' })
  return flatten(builder, pooled)
}

/** Four convolutions; the input of each is the sum of the ones before it. The first halves the size. */
function denseBlock(
  builder: FaceApiBuilder,
  input: FeatureMap,
  { prefix, isFirst }: { readonly prefix: string; readonly isFirst: boolean },
): FeatureMap {
  const first = isFirst
    ? downsamplingLayer(builder, input, `${prefix}/conv0`)
    : separableLayer(builder, input, `${prefix}/conv0`, 2)
  const reduced = relu(builder, first)
  let sum = add(builder, reduced, separableLayer(builder, reduced, `${prefix}/conv1`))
  for (const layer of ['conv2', 'conv3'])
    sum = add(builder, sum, separableLayer(builder, relu(builder, sum), `${prefix}/${layer}`))
  return relu(builder, sum)
}

/** An embedding of 128 numbers for a face (150 px): dlib's ResNet with 29 convolutions. */
function buildFaceRecognition(builder: FaceApiBuilder): void {
  const { graph } = builder
  const entry = scaledLayer(builder, normalizedInput(builder, 150), 'conv32_down', downsampling)
  // The maximum of the activations, as in dlib, is the activation of the maximum. In this order, the
  // runtime pools float32 values before they are rounded. Its pooling of integers is ten times slower.
  const pooled = downsamplingPool(builder, 'MaxPool', entry, { side: 3, padding: 'VALID' })
  let features = relu(builder, pooled)
  for (const block of blocks)
    features = block.includes('down')
      ? downsamplingBlock(builder, features, block)
      : residualBlock(builder, features, block)
  const mean = { ...features, name: graph.add('GlobalAveragePool', [features.name]) }
  const { data, shape } = findWeights(builder, 'fc')
  const embedding = graph.add('MatMul', [flatten(builder, mean), graph.floats(data, shape)])
  graph.output('embedding', embedding, [128])
}

/** The blocks by the names of their weights; the number is the number of channels. */
const blocks = `
  conv32_1 conv32_2 conv32_3 conv64_down
  conv64_1 conv64_2 conv64_3 conv128_down
  conv128_1 conv128_2 conv256_down
  conv256_1 conv256_2 conv256_down_out
`
  .trim()
  .split(/\s+/u)

type StrideAndPadding = { readonly stride: number; readonly padding: Padding }
/** dlib uses no padding where it halves the size. */
const downsampling: StrideAndPadding = { stride: 2, padding: 'VALID' }
const sameSize: StrideAndPadding = { stride: 1, padding: 'SAME' }

function residualBlock(builder: FaceApiBuilder, input: FeatureMap, prefix: string): FeatureMap {
  const first = relu(builder, scaledLayer(builder, input, `${prefix}/conv1`, sameSize))
  const second = scaledLayer(builder, first, `${prefix}/conv2`, sameSize)
  return relu(builder, add(builder, second, input))
}

/** The shortcut is an average pooling; the smaller branch is padded with zeros at its end. */
function downsamplingBlock(builder: FaceApiBuilder, input: FeatureMap, prefix: string): FeatureMap {
  const first = relu(builder, scaledLayer(builder, input, `${prefix}/conv1`, downsampling))
  const second = scaledLayer(builder, first, `${prefix}/conv2`, sameSize)
  const shortcut = downsamplingPool(builder, 'AveragePool', input, { side: 2, padding: 'VALID' })
  const commonShape = {
    size: [
      Math.max(second.size[0], shortcut.size[0]),
      Math.max(second.size[1], shortcut.size[1]),
    ] as const,
    channels: Math.max(second.channels, shortcut.channels),
  }
  return relu(
    builder,
    add(builder, padTo(builder, shortcut, commonShape), padTo(builder, second, commonShape)),
  )
}

/** Adds zeros behind the last channel, below the last row and right of the last column. */
function padTo(
  { graph }: FaceApiBuilder,
  input: FeatureMap,
  { size, channels }: Omit<FeatureMap, 'name'>,
): FeatureMap {
  const amounts = [channels - input.channels, size[0] - input.size[0], size[1] - input.size[1]]
  if (amounts.every((amount) => amount === 0)) return input
  const pads = graph.integers([0, 0, 0, 0, 0, ...amounts])
  return { name: graph.add('Pad', [input.name, pads]), size, channels }
}

/**
 * A convolution with a bias and dlib's affine layer `x · scale + shift` as one convolution: the scale
 * is folded into the filters and the bias.
 */
function scaledLayer(
  builder: FaceApiBuilder,
  input: FeatureMap,
  prefix: string,
  strideAndPadding: StrideAndPadding,
): FeatureMap {
  const scale = findWeights(builder, `${prefix}/scale/weights`).data
  const shift = findWeights(builder, `${prefix}/scale/biases`).data
  const convolutionBias = findWeights(builder, `${prefix}/conv/bias`).data
  const bias = shift.map(
    (value, index) => value + (convolutionBias[index] ?? 0) * (scale[index] ?? 1),
  )
  return convolutionLayer(builder, input, `${prefix}/conv/filters`, {
    ...strideAndPadding,
    scale,
    bias,
  })
}
