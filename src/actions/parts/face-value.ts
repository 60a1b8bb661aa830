import type { z } from 'zod'
import type { FaceResult, ImageAnalysis } from '../../vision/image-analysis.ts'
import type { FaceValue, imageFacts } from '../schemas/fields.ts'

/** Converts a face of an analysis to the face of a response. */
export function toFaceValue(
  analysis: ImageAnalysis,
  result: FaceResult,
  faceIndex: number,
  show: { readonly landmarks: boolean } = { landmarks: true },
): FaceValue {
  const { left, top, width, height } = result.boundingBox
  return {
    faceIndex,
    boundingBox: { left, top, width, height },
    relativeBoundingBox: {
      left: round(left / analysis.width, 4),
      top: round(top / analysis.height, 4),
      width: round(width / analysis.width, 4),
      height: round(height / analysis.height, 4),
    },
    confidence: round(result.confidence, 3),
    ...(show.landmarks && { landmarks: result.landmarks }),
    pose: {
      yaw: round(result.pose.yaw, 1),
      pitch: round(result.pose.pitch, 1),
      roll: round(result.pose.roll, 1),
    },
    quality: { score: result.qualityScore, level: qualityLevel(result.qualityScore) },
  }
}

export function toImageFacts(analysis: ImageAnalysis): z.output<typeof imageFacts> {
  const { width, height, orientationApplied } = analysis
  return { width, height, orientationApplied }
}

/** The limits are those of the schema. */
export function qualityLevel(score: number): 'low' | 'medium' | 'high' {
  if (score < 40) return 'low'
  return score < 70 ? 'medium' : 'high'
}

function round(value: number, digits: number): number {
  const scale = 10 ** digits
  return Math.round(value * scale) / scale
}
