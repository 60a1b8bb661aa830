import type { FeatureMap, Padding } from '../onnx/layers.ts'
import {
  add,
  convolutionLayer,
  downsamplingPool,
  flatten,
  normalizedInput,
  relu,
  findWeights,
  type FaceApiBuilder,
} from './face-api-builder.ts'

/** An embedding of 128 numbers for a face (150 px): dlib's ResNet with 29 convolutions. */
export function buildFaceRecognition(builder: FaceApiBuilder): void {
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
