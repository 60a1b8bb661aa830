import type { FaceApiNetwork } from '../manifest.ts'
import type { Graph } from '../onnx/graph.ts'
import { readWeights } from '../weights.ts'
import type { WeightsGroup } from '../weights.ts'
import { ageGender } from './age-gender.ts'
import { faceExpression, faceLandmark68 } from './face-features.ts'
import { faceRecognition } from './face-recognition.ts'
import { openNetwork } from './network.ts'
import type { Network } from './network.ts'
import { ssdMobilenetv1 } from './ssd-mobilenetv1.ts'

/** Builds a face-api network with its weights as an ONNX graph. */
export function convertFaceApi(
  network: FaceApiNetwork,
  source: { readonly manifest: readonly [WeightsGroup]; readonly weights: Uint8Array },
): Graph {
  const opened = openNetwork(network, readWeights(source.manifest[0], source.weights))
  architectures[network](opened)
  return opened.graph.graph
}

const architectures: Readonly<Record<FaceApiNetwork, (network: Network) => void>> = {
  ssd_mobilenetv1: ssdMobilenetv1,
  face_landmark_68: faceLandmark68,
  face_recognition: faceRecognition,
  face_expression: faceExpression,
  age_gender: ageGender,
}
