import type { FitMesh } from '../image-context.ts'
import { confidenceFromScore } from './combine-detections.ts'
import type { Detection } from './detection.ts'

/** Lowers the confidence of an uncertain face if the mesh network gives it a low face score. */
export async function confirmDetection(face: Detection, fitMesh: FitMesh): Promise<Detection> {
  if (face.confidence >= certainConfidenceMin) return face
  const { faceScore } = await fitMesh(face)
  return {
    ...face,
    confidence: Math.min(face.confidence, confidenceFromScore(faceScore, meshScoreMin)),
  }
}

/**
 * In 1,040 press photographs, the rule of the detectors alone accepted 21 places with a mesh score
 * below 0.9. Those below 0.5 were collars, badges, lettering, an ear and faces cut in half.
 */
export const meshScoreMin = 0.5

/** No false detection reached this score in the same photographs, except one badge (0.867). */
export const certainConfidenceMin = 0.85
