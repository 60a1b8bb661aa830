import type { FaceMinimums, FaceResult, ImageAnalysis } from '../../vision/image-analysis.ts'
import { minFaceConfidence, minFaceSize } from '../schemas/fields.ts'
import { lowScoreReasons, findQualityReasons, type QualityReason } from './quality-reasons.ts'

/** What svc.enroll asks of a face where its parameters say nothing else. */
export const enrollmentMinima: FaceMinimums & { readonly minQuality: number } = {
  minFaceConfidence: minFaceConfidence.parse(undefined),
  minFaceSizePx: minFaceSize.parse(undefined),
  minQuality: 40,
}

/**
 * Whether svc.enroll would take a face of this picture by its defaults, and what stands out; whoever
 * it would not take has a reason.
 *
 * @param view of a look that has counted faces by these minima.
 */
export function assessEnrollment(view: ImageAnalysis) {
  const { countedFaces: counted = 0 } = view
  return (face: FaceResult) => {
    const { width, height } = face.boundingBox
    const isSure = face.confidence >= enrollmentMinima.minFaceConfidence
    const isLarge = Math.min(width, height) >= enrollmentMinima.minFaceSizePx
    const isGood = face.qualityScore >= enrollmentMinima.minQuality
    const reasons = new Set<QualityReason>([
      ...findQualityReasons(face, view),
      ...(isGood ? [] : lowScoreReasons(face, view)),
    ])
    if (!isSure) reasons.add('LOW_CONFIDENCE')
    if (!isLarge) reasons.add('FACE_TOO_SMALL')
    if (counted > 1) reasons.add('MULTIPLE_FACES')
    const suitableForEnrollment = isSure && isLarge && isGood && counted === 1
    return { suitableForEnrollment, reasons: [...reasons] }
  }
}
