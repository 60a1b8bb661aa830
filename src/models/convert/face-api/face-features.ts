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

/** 68 points, x and y alternating, as fractions of the square image (112 px). */
export function buildFaceLandmark68(builder: FaceApiBuilder): void {
  const landmarks = denseLayer(builder, faceFeatures(builder), 'fc')
  builder.graph.output('landmarks', landmarks, [136])
}

/** Probabilities of seven expressions for a square image (112 px). */
export function buildFaceExpression(builder: FaceApiBuilder): void {
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
