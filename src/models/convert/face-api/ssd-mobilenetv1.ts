import { clip } from '../onnx/layers.ts'
import type { FeatureMap } from '../onnx/layers.ts'
import { convolutionLayer, squareInput, findWeights } from './face-api-builder.ts'
import type { FaceApiBuilder } from './face-api-builder.ts'
import { decodeBoxes, faceScores } from './ssd-output.ts'

/** Face boxes and their scores for a square image (512 px): MobileNet v1 with six heads. */
export function buildSsdMobilenetv1(builder: FaceApiBuilder): void {
  const { graph } = builder
  const maps = featureMaps(builder)
  const encodings = predict(builder, maps, { head: 'BoxEncodingPredictor', numbers: 4 })
  const classes = predict(builder, maps, { head: 'ClassPredictor', numbers: 3 })
  const priors = findWeights(builder, 'Output/extra_dim')
  const count = priors.data.length / 4
  graph.output('boxes', decodeBoxes(graph, encodings, priors.data), [count, 4])
  graph.output('scores', faceScores(graph, classes, count), [count])
}

/** The depthwise convolutions that halve the size. */
const downsamplingLayers = new Set([2, 4, 6, 12])

/** The six feature maps with face predictions, from 32×32 cells to one cell. */
function featureMaps(builder: FaceApiBuilder): readonly FeatureMap[] {
  let features = pointwise(builder, scaledInput(builder), 'MobilenetV1/Conv2d_0_pointwise', 2)
  const maps: FeatureMap[] = []
  for (let layer = 1; layer <= 13; layer++) {
    const stride = downsamplingLayers.has(layer) ? 2 : 1
    features = depthwise(builder, features, `MobilenetV1/Conv2d_${layer}_depthwise`, stride)
    features = pointwise(builder, features, `MobilenetV1/Conv2d_${layer}_pointwise`, 1)
    if (layer === 11 || layer === 13) maps.push(features)
  }
  for (let layer = 0; layer < 8; layer++) {
    const isDownsampling = layer % 2 === 1
    features = pointwise(
      builder,
      features,
      `Prediction/Conv2d_${layer}_pointwise`,
      isDownsampling ? 2 : 1,
    )
    if (isDownsampling) maps.push(features)
  }
  return maps
}

/** Scales pixels from 0..255 to −1..1. */
function scaledInput(builder: FaceApiBuilder): FeatureMap {
  const { graph } = builder
  const input = squareInput(builder, 512)
  const scaled = graph.add('Mul', [input.name, graph.floats([1 / 127.5], [])])
  return { ...input, name: graph.add('Sub', [scaled, graph.floats([1], [])]) }
}

function pointwise(
  builder: FaceApiBuilder,
  input: FeatureMap,
  prefix: string,
  stride: number,
): FeatureMap {
  const bias = findWeights(builder, `${prefix}/convolution_bn_offset`).data
  const convolved = convolutionLayer(builder, input, `${prefix}/weights`, { stride, bias })
  return relu6(builder, convolved)
}

/** The epsilon of the batch normalisation in face-api. */
const epsilon = 0.0010000000474974513

/** Adds a depthwise convolution with its batch normalisation folded in. */
function depthwise(
  builder: FaceApiBuilder,
  input: FeatureMap,
  prefix: string,
  stride: number,
): FeatureMap {
  const normalization = (name: string): Float32Array =>
    findWeights(builder, `${prefix}/BatchNorm/${name}`).data
  const mean = normalization('moving_mean')
  const variance = normalization('moving_variance')
  const scale = normalization('gamma').map(
    (value, channel) => value / Math.sqrt((variance[channel] ?? 0) + epsilon),
  )
  const bias = normalization('beta').map(
    (value, channel) => value - (mean[channel] ?? 0) * (scale[channel] ?? 1),
  )
  const options = { stride, scale, bias, isDepthwise: true }
  return relu6(builder, convolutionLayer(builder, input, `${prefix}/depthwise_weights`, options))
}

function relu6({ graph }: FaceApiBuilder, input: FeatureMap): FeatureMap {
  return { ...input, name: clip(graph, input.name, { low: 0, high: 6 }) }
}

/** The predictions of a head for every prior of every feature map, `[N, priors, numbers]`. */
function predict(
  builder: FaceApiBuilder,
  maps: readonly FeatureMap[],
  { head, numbers }: { readonly head: string; readonly numbers: number },
): string {
  const { graph } = builder
  const predictions = maps.map((features, index) => {
    const prefix = `Prediction/BoxPredictor_${index}/${head}`
    const bias = findWeights(builder, `${prefix}/biases`).data
    const map = convolutionLayer(builder, features, `${prefix}/weights`, { bias })
    const priors = (map.size[0] * map.size[1] * map.channels) / numbers
    const cells = graph.add('Transpose', [map.name], { perm: [0, 2, 3, 1] })
    return graph.add('Reshape', [cells, graph.integers([-1, priors, numbers])])
  })
  return graph.add('Concat', predictions, { axis: 1 })
}
