import type { FaceApiNetworkName } from '../../builtin/builtin-model.ts'
import { buildGraph, type Graph } from '../onnx/graph.ts'
import { readWeights, type WeightsGroup } from '../weights.ts'
import { buildAgeGender } from './age-gender.ts'
import { buildFaceExpression, buildFaceLandmark68 } from './face-features.ts'
import { buildFaceRecognition } from './face-recognition.ts'
import type { FaceApiBuilder } from './face-api-builder.ts'
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

const architectures: Readonly<Record<FaceApiNetworkName, (builder: FaceApiBuilder) => void>> = {
  ssd_mobilenetv1: buildSsdMobilenetv1,
  face_landmark_68: buildFaceLandmark68,
  face_recognition: buildFaceRecognition,
  face_expression: buildFaceExpression,
  age_gender: buildAgeGender,
}
