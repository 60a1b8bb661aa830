import { pool } from '../onnx/layers.ts'
import type { FeatureMap, Padding } from '../onnx/layers.ts'
import {
  add,
  convolutionLayer,
  flatten,
  normalizedInput,
  relu,
  findWeights,
} from './face-api-builder.ts'
import type { FaceApiBuilder } from './face-api-builder.ts'

/** A descriptor of 128 numbers of a face (150 px): dlib's ResNet with 29 convolutions. */
export function buildFaceRecognition(network: FaceApiBuilder): void {
  const { graph } = network
  const entry = scaledLayer(network, normalizedInput(network, 150), 'conv32_down', downsampling)
  let features = pool(graph, 'MaxPool', relu(network, entry), {
    kernel: [3, 3],
    stride: [2, 2],
    padding: 'VALID',
  })
  for (const block of blocks)
    features = block.includes('down')
      ? downsamplingBlock(network, features, block)
      : residualBlock(network, features, block)
  const mean = { ...features, name: graph.add('GlobalAveragePool', [features.name]) }
  const { data, shape } = findWeights(network, 'fc')
  const descriptor = graph.add('MatMul', [flatten(network, mean), graph.floats(data, shape)])
  graph.output('descriptor', descriptor, [128])
}

/** The blocks by the names of their weights; the number is that of the channels. */
const blocks = `
  conv32_1 conv32_2 conv32_3 conv64_down
  conv64_1 conv64_2 conv64_3 conv128_down
  conv128_1 conv128_2 conv256_down
  conv256_1 conv256_2 conv256_down_out
`
  .trim()
  .split(/\s+/u)

type StrideAndPadding = { readonly stride: number; readonly padding: Padding }
/** dlib takes no padding where it halves the picture. */
const downsampling: StrideAndPadding = { stride: 2, padding: 'VALID' }
const sameSize: StrideAndPadding = { stride: 1, padding: 'SAME' }

function residualBlock(network: FaceApiBuilder, input: FeatureMap, prefix: string): FeatureMap {
  const first = relu(network, scaledLayer(network, input, `${prefix}/conv1`, sameSize))
  const second = scaledLayer(network, first, `${prefix}/conv2`, sameSize)
  return relu(network, add(network, second, input))
}

/** The short cut is an average pooling; whichever branch is smaller gets zeros at its end. */
function downsamplingBlock(network: FaceApiBuilder, input: FeatureMap, prefix: string): FeatureMap {
  const first = relu(network, scaledLayer(network, input, `${prefix}/conv1`, downsampling))
  const second = scaledLayer(network, first, `${prefix}/conv2`, sameSize)
  const shortCut = pool(network.graph, 'AveragePool', input, {
    kernel: [2, 2],
    stride: [2, 2],
    padding: 'VALID',
  })
  const grown = {
    size: [
      Math.max(second.size[0], shortCut.size[0]),
      Math.max(second.size[1], shortCut.size[1]),
    ] as const,
    channels: Math.max(second.channels, shortCut.channels),
  }
  return relu(network, add(network, padTo(network, shortCut, grown), padTo(network, second, grown)))
}

/** Adds zeros behind the last channel, below the last row and right of the last column. */
function padTo(
  { graph }: FaceApiBuilder,
  input: FeatureMap,
  { size, channels }: Omit<FeatureMap, 'name'>,
): FeatureMap {
  const added = [channels - input.channels, size[0] - input.size[0], size[1] - input.size[1]]
  if (added.every((amount) => amount === 0)) return input
  const pads = graph.integers([0, 0, 0, 0, 0, ...added])
  return { name: graph.add('Pad', [input.name, pads]), size, channels }
}

/**
 * A convolution with bias, then dlib's affine layer `x · scale + shift`, in one: the scale goes into
 * the filters and into the bias.
 */
function scaledLayer(
  network: FaceApiBuilder,
  input: FeatureMap,
  prefix: string,
  step: StrideAndPadding,
): FeatureMap {
  const scale = findWeights(network, `${prefix}/scale/weights`).data
  const shift = findWeights(network, `${prefix}/scale/biases`).data
  const ownBias = findWeights(network, `${prefix}/conv/bias`).data
  const bias = shift.map((value, index) => value + (ownBias[index] ?? 0) * (scale[index] ?? 1))
  return convolutionLayer(network, input, `${prefix}/conv/filters`, { ...step, scale, bias })
}
