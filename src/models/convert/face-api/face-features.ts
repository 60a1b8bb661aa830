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

/** 68 points, x and y in turn, as fractions of the square picture (112 px). */
export function buildFaceLandmark68(network: FaceApiBuilder): void {
  const landmarks = denseLayer(network, faceFeatures(network), 'fc')
  network.graph.output('landmarks', landmarks, [136])
}

/** Probabilities of seven expressions on a square picture (112 px). */
export function buildFaceExpression(network: FaceApiBuilder): void {
  const logits = denseLayer(network, faceFeatures(network), 'fc')
  const { graph } = network
  graph.output('probabilities', graph.add('Softmax', [logits], { axis: -1 }), [7])
}

/** face-api's FaceFeatureExtractor: four dense blocks, 256 features. */
function faceFeatures(network: FaceApiBuilder): string {
  let features = normalizedInput(network, 112)
  for (const [index, prefix] of ['dense0', 'dense1', 'dense2', 'dense3'].entries())
    features = denseBlock(network, features, { prefix, isFirst: index === 0 })
  const pooled = pool(network.graph, 'AveragePool', features, {
    kernel: [7, 7],
    stride: [2, 2],
    padding: 'VALID',
  })
  return flatten(network, pooled)
}

/** Four convolutions, each fed with the sum of those before it; the first halves the picture. */
function denseBlock(
  network: FaceApiBuilder,
  input: FeatureMap,
  { prefix, isFirst }: { readonly prefix: string; readonly isFirst: boolean },
): FeatureMap {
  const first = isFirst
    ? convolutionLayer(network, input, `${prefix}/conv0/filters`, {
        stride: 2,
        bias: findWeights(network, `${prefix}/conv0/bias`).data,
      })
    : separableLayer(network, input, `${prefix}/conv0`, 2)
  const reduced = relu(network, first)
  let sum = add(network, reduced, separableLayer(network, reduced, `${prefix}/conv1`))
  for (const layer of ['conv2', 'conv3'])
    sum = add(network, sum, separableLayer(network, relu(network, sum), `${prefix}/${layer}`))
  return relu(network, sum)
}
