import { pool } from '../onnx/layers.ts'
import type { FeatureMap } from '../onnx/layers.ts'
import {
  add,
  convolutionLayer,
  denseLayer,
  flatten,
  normalizedInput,
  relu,
  separableLayer,
  findWeights,
} from './face-api-builder.ts'
import type { FaceApiBuilder } from './face-api-builder.ts'

/** Age in years and the probabilities of two genders on a square picture (112 px): TinyXception. */
export function buildAgeGender(network: FaceApiBuilder): void {
  const { graph } = network
  const features = flatten(
    network,
    pool(graph, 'AveragePool', xception(network), {
      kernel: [7, 7],
      stride: [2, 2],
      padding: 'VALID',
    }),
  )
  graph.output('age', denseLayer(network, features, 'fc/age'), [1])
  const logits = denseLayer(network, features, 'fc/gender')
  graph.output('gender', graph.add('Softmax', [logits], { axis: -1 }), [2])
}

function xception(network: FaceApiBuilder): FeatureMap {
  const input = convolutionLayer(
    network,
    normalizedInput(network, 112),
    'entry_flow/conv_in/filters',
    {
      stride: 2,
      bias: findWeights(network, 'entry_flow/conv_in/bias').data,
    },
  )
  const entry = reductionBlock(network, relu(network, input), 'entry_flow/reduction_block_0')
  let features = activatedReductionBlock(network, entry, 'entry_flow/reduction_block_1')
  for (const prefix of ['middle_flow/main_block_0', 'middle_flow/main_block_1'])
    features = mainBlock(network, features, prefix)
  features = activatedReductionBlock(network, features, 'exit_flow/reduction_block')
  return relu(network, separableLayer(network, features, 'exit_flow/separable_conv'))
}

/** Halves the picture, past the activation on the short cut. */
function activatedReductionBlock(
  network: FaceApiBuilder,
  input: FeatureMap,
  prefix: string,
): FeatureMap {
  return reductionBlock(network, input, prefix, relu(network, input))
}

function reductionBlock(
  network: FaceApiBuilder,
  input: FeatureMap,
  prefix: string,
  activated = input,
): FeatureMap {
  const first = separableLayer(network, activated, `${prefix}/separable_conv0`)
  const second = separableLayer(network, relu(network, first), `${prefix}/separable_conv1`)
  const reduced = pool(network.graph, 'MaxPool', second, {
    kernel: [3, 3],
    stride: [2, 2],
    padding: 'SAME',
  })
  const shortCut = convolutionLayer(network, input, `${prefix}/expansion_conv/filters`, {
    stride: 2,
    bias: findWeights(network, `${prefix}/expansion_conv/bias`).data,
  })
  return add(network, reduced, shortCut)
}

function mainBlock(network: FaceApiBuilder, input: FeatureMap, prefix: string): FeatureMap {
  let features = input
  for (const layer of ['separable_conv0', 'separable_conv1', 'separable_conv2'])
    features = separableLayer(network, relu(network, features), `${prefix}/${layer}`)
  return add(network, features, input)
}
