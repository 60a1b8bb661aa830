import { clip } from '../onnx/layers.ts'
import type { FeatureMap } from '../onnx/layers.ts'
import { convolutionLayer, squareInput, findWeights } from './face-api-builder.ts'
import type { FaceApiBuilder } from './face-api-builder.ts'
import { decodeBoxes, faceScores } from './ssd-output.ts'

/** Boxes of faces and their scores on a square picture (512 px): MobileNet v1 with six heads. */
export function buildSsdMobilenetv1(network: FaceApiBuilder): void {
  const { graph } = network
  const maps = featureMaps(network)
  const encodings = predict(network, maps, { head: 'BoxEncodingPredictor', numbers: 4 })
  const classes = predict(network, maps, { head: 'ClassPredictor', numbers: 3 })
  const priors = findWeights(network, 'Output/extra_dim')
  const count = priors.data.length / 4
  graph.output('boxes', decodeBoxes(graph, encodings, priors.data), [count, 4])
  graph.output('scores', faceScores(graph, classes, count), [count])
}

/** The depthwise convolutions that halve the picture. */
const downsamplingLayers = new Set([2, 4, 6, 12])

/** The six maps on which faces are looked for, from 32×32 cells to one. */
function featureMaps(network: FaceApiBuilder): readonly FeatureMap[] {
  let features = pointwise(network, scaledInput(network), 'MobilenetV1/Conv2d_0_pointwise', 2)
  const maps: FeatureMap[] = []
  for (let layer = 1; layer <= 13; layer++) {
    const stride = downsamplingLayers.has(layer) ? 2 : 1
    features = depthwise(network, features, `MobilenetV1/Conv2d_${layer}_depthwise`, stride)
    features = pointwise(network, features, `MobilenetV1/Conv2d_${layer}_pointwise`, 1)
    if (layer === 11 || layer === 13) maps.push(features)
  }
  for (let layer = 0; layer < 8; layer++) {
    const halves = layer % 2 === 1
    features = pointwise(network, features, `Prediction/Conv2d_${layer}_pointwise`, halves ? 2 : 1)
    if (halves) maps.push(features)
  }
  return maps
}

/** Pixels of 0..255 as −1..1. */
function scaledInput(network: FaceApiBuilder): FeatureMap {
  const { graph } = network
  const input = squareInput(network, 512)
  const scaled = graph.add('Mul', [input.name, graph.floats([1 / 127.5], [])])
  return { ...input, name: graph.add('Sub', [scaled, graph.floats([1], [])]) }
}

function pointwise(
  network: FaceApiBuilder,
  input: FeatureMap,
  prefix: string,
  stride: number,
): FeatureMap {
  const bias = findWeights(network, `${prefix}/convolution_bn_offset`).data
  const convolved = convolutionLayer(network, input, `${prefix}/weights`, { stride, bias })
  return relu6(network, convolved)
}

/** face-api's epsilon of the batch normalisation. */
const epsilon = 0.0010000000474974513

/** A depthwise convolution with its batch normalisation folded in. */
function depthwise(
  network: FaceApiBuilder,
  input: FeatureMap,
  prefix: string,
  stride: number,
): FeatureMap {
  const normalization = (name: string): Float32Array =>
    findWeights(network, `${prefix}/BatchNorm/${name}`).data
  const mean = normalization('moving_mean')
  const variance = normalization('moving_variance')
  const scale = normalization('gamma').map(
    (value, channel) => value / Math.sqrt((variance[channel] ?? 0) + epsilon),
  )
  const bias = normalization('beta').map(
    (value, channel) => value - (mean[channel] ?? 0) * (scale[channel] ?? 1),
  )
  const options = { stride, scale, bias, isDepthwise: true }
  return relu6(network, convolutionLayer(network, input, `${prefix}/depthwise_weights`, options))
}

function relu6({ graph }: FaceApiBuilder, input: FeatureMap): FeatureMap {
  return { ...input, name: clip(graph, input.name, { low: 0, high: 6 }) }
}

/** What a head says of every prior of every map, `[N, priors, numbers]`. */
function predict(
  network: FaceApiBuilder,
  maps: readonly FeatureMap[],
  { head, numbers }: { readonly head: string; readonly numbers: number },
): string {
  const { graph } = network
  const predictions = maps.map((features, index) => {
    const prefix = `Prediction/BoxPredictor_${index}/${head}`
    const bias = findWeights(network, `${prefix}/biases`).data
    const map = convolutionLayer(network, features, `${prefix}/weights`, { bias })
    const priors = (map.size[0] * map.size[1] * map.channels) / numbers
    const cells = graph.add('Transpose', [map.name], { perm: [0, 2, 3, 1] })
    return graph.add('Reshape', [cells, graph.integers([-1, priors, numbers])])
  })
  return graph.add('Concat', predictions, { axis: 1 })
}
