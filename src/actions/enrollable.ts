import type { SeenFace, View } from '../vision/view.ts'
import { minFaceConfidence, minFaceSize } from './fields.ts'
import { reasonsForLowScore, reasonsOf, type QualityReason } from './quality-reasons.ts'

/** What svc.enroll asks of a face where its parameters say nothing else. */
export const enrolled = {
  minFaceConfidence: minFaceConfidence.parse(undefined),
  minFaceSize: minFaceSize.parse(undefined),
  minQuality: 40,
}

/**
 * Whether svc.enroll would take a face of this picture by its defaults, and what stands out; whoever
 * it would not take has a reason.
 *
 * @param view a look by minima that are no stricter than enrolment's. Faces beyond the look's
 *   `maxFaces` count as faces.
 */
export function enrollable(view: View) {
  const unseen = view.faceCount - view.faces.length
  const isCandidate = ({ confidence, boundingBox: { width, height } }: SeenFace): boolean =>
    confidence >= enrolled.minFaceConfidence && Math.min(width, height) >= enrolled.minFaceSize
  const isCrowd = view.faces.filter(isCandidate).length + unseen > 1
  return (face: SeenFace) => {
    const isGood = face.qualityScore >= enrolled.minQuality
    const reasons = new Set<QualityReason>([
      ...reasonsOf(face),
      ...(isGood ? [] : reasonsForLowScore(face)),
    ])
    if (isCrowd) reasons.add('MULTIPLE_FACES')
    if (face.confidence < enrolled.minFaceConfidence) reasons.add('LOW_CONFIDENCE')
    const { width, height } = face.boundingBox
    if (Math.min(width, height) < enrolled.minFaceSize) reasons.add('FACE_TOO_SMALL')
    const suitableForEnrollment = isGood && !isCrowd && isCandidate(face)
    return { suitableForEnrollment, reasons: [...reasons] }
  }
}
