import type { z } from 'zod'
import type { FaceResult, ImageAnalysis } from '../../vision/image-analysis.ts'
import type { face, imageFacts } from '../schemas/fields.ts'

/** A seen face in the words of the contract. */
export function toFaceValue(
  view: ImageAnalysis,
  seen: FaceResult,
  faceIndex: number,
  show: { readonly landmarks: boolean } = { landmarks: true },
): z.output<typeof face> {
  const { left, top, width, height } = seen.boundingBox
  return {
    faceIndex,
    boundingBox: { left, top, width, height },
    relativeBoundingBox: {
      left: round(left / view.width, 4),
      top: round(top / view.height, 4),
      width: round(width / view.width, 4),
      height: round(height / view.height, 4),
    },
    confidence: round(seen.confidence, 3),
    ...(show.landmarks && { landmarks: seen.landmarks }),
    pose: {
      yaw: round(seen.pose.yaw, 1),
      pitch: round(seen.pose.pitch, 1),
      roll: round(seen.pose.roll, 1),
    },
    quality: { score: seen.qualityScore, level: qualityLevel(seen.qualityScore) },
  }
}

export function toImageFacts(view: ImageAnalysis): z.output<typeof imageFacts> {
  return {
    width: view.width,
    height: view.height,
    orientationApplied: view.orientationApplied,
  }
}

/** By the borders of the contract. */
export function qualityLevel(score: number): 'low' | 'medium' | 'high' {
  if (score < 40) return 'low'
  return score < 70 ? 'medium' : 'high'
}

function round(value: number, digits: number): number {
  const scale = 10 ** digits
  return Math.round(value * scale) / scale
}
