import { clip, type FeatureMap } from '../onnx/layers.ts'
import type { GraphBuilder } from '../onnx/graph.ts'
import type { Pads } from '../onnx/layout.ts'
import { convolutionLayer, findWeights, type FaceApiBuilder } from './face-api-builder.ts'

/**
 * Encoded face boxes and their logits for an image of any size, −1..1: MobileNet v1 with six heads.
 * `src/vision/detect/ssd.ts` decodes them, because the anchors depend on the size of the image.
 */
export function buildSsdMobilenetv1(builder: FaceApiBuilder): void {
  const { graph } = builder
  const maps = featureMaps(builder)
  const encodings = predict(builder, maps, { head: 'BoxEncodingPredictor', numbers: 4 })
  const classes = predict(builder, maps, { head: 'ClassPredictor', numbers: 3 })
  graph.output('encodings', encodings, ['anchors', 4])
  graph.output('logits', faceLogits(graph, classes), ['anchors'])
}

/** The depthwise convolutions that halve the size. */
const downsamplingLayers = new Set([2, 4, 6, 12])

/** The six feature maps with face predictions, from 32×32 cells to one cell. */
function featureMaps(builder: FaceApiBuilder): readonly FeatureMap[] {
  builder.graph.input('input', [3, 'height', 'width'])
  const input = { name: 'input', size: trainedSize, channels: 3 }
  let features = pointwise(builder, input, 'MobilenetV1/Conv2d_0_pointwise', 2)
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

/** The size of the network as trained. The graph contains no size. */
const trainedSize = [512, 512] as const

/**
 * The padding of a layer that halves the size. TensorFlow's "SAME" padding depends on the size: it
 * adds a pixel at the top and left of an odd one, which would move all cells of the next feature map.
 * With these pads every size has half as many cells, rounded up, that start at the top left corner.
 * For an even size the last row and column are not read.
 */
const halvingPads: Pads = [0, 0, 2, 2]

function paddingOf(stride: number): Pads | 'SAME' {
  return stride === 1 ? 'SAME' : halvingPads
}

function pointwise(builder: FaceApiBuilder, input: FeatureMap, prefix: string, stride: number) {
  const bias = findWeights(builder, `${prefix}/convolution_bn_offset`).data
  const options = { stride, bias, padding: paddingOf(stride) }
  return relu6(builder, convolutionLayer(builder, input, `${prefix}/weights`, options))
}

/** The epsilon of the batch normalisation in face-api. */
const epsilon = 0.0010000000474974513

/** Adds a depthwise convolution with its batch normalisation folded in. */
function depthwise(builder: FaceApiBuilder, input: FeatureMap, prefix: string, stride: number) {
  const normalization = (name: string) => findWeights(builder, `${prefix}/BatchNorm/${name}`).data
  const mean = normalization('moving_mean')
  const variance = normalization('moving_variance')
  const scale = normalization('gamma').map(
    (value, channel) => value / Math.sqrt((variance[channel] ?? 0) + epsilon),
  )
  const bias = normalization('beta').map(
    (value, channel) => value - (mean[channel] ?? 0) * (scale[channel] ?? 1),
  )
  const options = { stride, padding: paddingOf(stride), scale, bias, isDepthwise: true }
  return relu6(builder, convolutionLayer(builder, input, `${prefix}/depthwise_weights`, options))
}

function relu6({ graph }: FaceApiBuilder, input: FeatureMap): FeatureMap {
  return { ...input, name: clip(graph, input.name, { low: 0, high: 6 }) }
}

/** The predictions of a head for every anchor of every feature map, `[N, anchors, numbers]`. */
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
    const cells = graph.add('Transpose', [map.name], { perm: [0, 2, 3, 1] })
    return graph.add('Reshape', [cells, graph.integers([0, -1, numbers])])
  })
  return graph.add('Concat', predictions, { axis: 1 })
}

/** The logits of "face", the second of three classes, `[N, anchors]`. */
function faceLogits(graph: GraphBuilder, classes: string): string {
  const [from, to, axis] = [1, 2, 2].map((value) => graph.integers([value]))
  const face = graph.add('Slice', [classes, from ?? '', to ?? '', axis ?? ''])
  return graph.add('Reshape', [face, graph.integers([0, -1])])
}
