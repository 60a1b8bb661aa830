import type { FeatureMap } from '../onnx/layers.ts'
import {
  add,
  denseLayer,
  downsamplingLayer,
  downsamplingPool,
  flatten,
  normalizedInput,
  relu,
  separableLayer,
  type FaceApiBuilder,
} from './face-api-builder.ts'

/** Age in years and the probabilities of two genders for a square image (112 px): TinyXception. */
export function buildAgeGender(builder: FaceApiBuilder): void {
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
function activatedReductionBlock(
  builder: FaceApiBuilder,
  input: FeatureMap,
  prefix: string,
): FeatureMap {
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
