import type { FaceMinimums, FaceResult, ImageAnalysis } from '../../vision/image-analysis.ts'
import { enrollmentFaceParams } from '../schemas/fields.ts'
import { isOnlyMainFace } from './main-faces.ts'
import { lowScoreReasons, findQualityReasons, type QualityReason } from './quality-reasons.ts'

/** The minima of svc.enroll by default. */
export const enrollmentMinima: FaceMinimums & { readonly minQuality: number } = {
  minFaceConfidence: enrollmentFaceParams.minFaceConfidence.parse(undefined),
  minFaceSizePx: enrollmentFaceParams.minFaceSize.parse(undefined),
  minQuality: enrollmentFaceParams.minQuality.parse(undefined),
}

/**
 * Returns a function that reports whether svc.enroll would accept a face of the image by default, and
 * the reasons. A face that it would reject has at least one reason.
 *
 * @param analysis an analysis that has counted faces by `enrollmentMinima`.
 */
export function assessEnrollment(analysis: ImageAnalysis) {
  const { countedFaceSidesPx = [] } = analysis
  return (face: FaceResult) => {
    const { width, height } = face.boundingBox
    const isConfident = face.confidence >= enrollmentMinima.minFaceConfidence
    const isLarge = Math.min(width, height) >= enrollmentMinima.minFaceSizePx
    const hasQuality = face.qualityScore >= enrollmentMinima.minQuality
    const reasons = new Set<QualityReason>([
      ...findQualityReasons(face, analysis),
      ...(hasQuality ? [] : lowScoreReasons(face, analysis)),
    ])
    if (!isConfident) reasons.add('LOW_CONFIDENCE')
    if (!isLarge) reasons.add('FACE_TOO_SMALL')
    const isMain = isOnlyMainFace(face, countedFaceSidesPx)
    if (!isMain && countedFaceSidesPx.length > 1) reasons.add('MULTIPLE_FACES')
    const suitableForEnrollment = isConfident && isLarge && hasQuality && isMain
    return { suitableForEnrollment, reasons: [...reasons] }
  }
}
