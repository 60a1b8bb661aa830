import type { FaceMinima, SeenFace, View } from '../vision/view.ts'
import { minFaceConfidence, minFaceSize } from './fields.ts'
import { reasonsForLowScore, reasonsOf, type QualityReason } from './quality-reasons.ts'

/** What svc.enroll asks of a face where its parameters say nothing else. */
export const enrolled: FaceMinima & { readonly minQuality: number } = {
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
export function enrollable(view: View) {
  const { counted = 0 } = view
  return (face: SeenFace) => {
    const { width, height } = face.boundingBox
    const isSure = face.confidence >= enrolled.minFaceConfidence
    const isLarge = Math.min(width, height) >= enrolled.minFaceSizePx
    const isGood = face.qualityScore >= enrolled.minQuality
    const reasons = new Set<QualityReason>([
      ...reasonsOf(face, view),
      ...(isGood ? [] : reasonsForLowScore(face, view)),
    ])
    if (!isSure) reasons.add('LOW_CONFIDENCE')
    if (!isLarge) reasons.add('FACE_TOO_SMALL')
    if (counted > 1) reasons.add('MULTIPLE_FACES')
    const suitableForEnrollment = isSure && isLarge && isGood && counted === 1
    return { suitableForEnrollment, reasons: [...reasons] }
  }
}
