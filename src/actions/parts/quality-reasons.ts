import type { FaceMinimums, FaceResult, ImageAnalysis } from '../../vision/image-analysis.ts'
import type { Occlusion, QualityComponents } from '../../vision/quality/face-quality.ts'
import { enrollmentFaceParams } from '../schemas/fields.ts'
import { isOnlyMainFace } from './main-faces.ts'

/** The defects of a face, in the order of the response. */
export const qualityReasons = [
  'EXTREME_POSE',
  'LOW_BRIGHTNESS',
  'HIGH_BRIGHTNESS',
  'LOW_SHARPNESS',
  'LOW_CONTRAST',
  'LOW_CONFIDENCE',
  'FACE_TOO_SMALL',
  'FACE_CUT_OFF',
  'FACE_OCCLUDED',
  'EYES_CLOSED',
  'MOUTH_OPEN',
  'MULTIPLE_FACES',
] as const

export type QualityReason = (typeof qualityReasons)[number]

/** Pixels of the upright image. */
type ImageDimensions = Pick<ImageAnalysis, 'width' | 'height'>

/** Returns the defects of one face. MULTIPLE_FACES is a defect of the image and is not included. */
export function findQualityReasons(face: FaceResult, image: ImageDimensions): QualityReason[] {
  const { quality, confidence } = face
  const { components, luma, openness, occlusion, cutShare } = quality
  const isLow = (name: keyof QualityComponents): boolean => components[name] < componentMin[name]
  const { areEyesCovered, isMouthCovered } = findCovers(occlusion)
  const isBadlyLit = isLow('brightness') || isLow('exposure')
  const applies: Readonly<Record<QualityReason, boolean>> = {
    EXTREME_POSE: isLow('headPose'),
    LOW_BRIGHTNESS: isBadlyLit && luma < middleLuma,
    HIGH_BRIGHTNESS: isBadlyLit && luma >= middleLuma,
    LOW_SHARPNESS: isLow('sharpness'),
    LOW_CONTRAST: isLow('contrast'),
    LOW_CONFIDENCE: confidence < confidenceMin,
    FACE_TOO_SMALL: isLow('faceSize'),
    FACE_CUT_OFF: cutShare >= cutShareMin || touchesBorder(face, image),
    FACE_OCCLUDED: areEyesCovered || isMouthCovered,
    // Covered eyes and mouths are neither open nor closed.
    EYES_CLOSED: !areEyesCovered && isLow('eyesOpen'),
    MOUTH_OPEN: !isMouthCovered && openness.mouth > mouthOpenMin,
    MULTIPLE_FACES: false,
  }
  return qualityReasons.filter((reason) => applies[reason])
}

/** Returns the reasons for a low score: the defects of the face, or else its weakest component. */
export function lowScoreReasons(face: FaceResult, image: ImageDimensions): QualityReason[] {
  const reasons = findQualityReasons(face, image).filter((reason) => !reportOnlyReasons.has(reason))
  return reasons.length > 0 ? reasons : [weakestComponentReason(face)]
}

/** The mesh of a face that is cut off fits itself into the visible part, so the box ends at the border. */
export function touchesBorder(
  { boundingBox }: Pick<FaceResult, 'boundingBox'>,
  image: ImageDimensions,
): boolean {
  const { left, top, width, height } = boundingBox
  return left <= 0 || top <= 0 || left + width >= image.width || top + height >= image.height
}

/** Reported, but not part of the score. */
const reportOnlyReasons: ReadonlySet<QualityReason> = new Set(['EYES_CLOSED', 'MOUTH_OPEN'])

function weakestComponentReason({
  quality: { components, luma },
  confidence,
}: FaceResult): QualityReason {
  const brightnessReason = luma < middleLuma ? 'LOW_BRIGHTNESS' : 'HIGH_BRIGHTNESS'
  const scores: readonly (readonly [QualityReason, number])[] = [
    ['LOW_SHARPNESS', components.sharpness],
    ['LOW_CONTRAST', components.contrast],
    ['FACE_TOO_SMALL', components.faceSize],
    ['EXTREME_POSE', components.headPose],
    [brightnessReason, Math.min(components.brightness, components.exposure)],
    ['FACE_OCCLUDED', components.occlusion],
    ['LOW_CONFIDENCE', 100 * confidence],
  ]
  return scores.reduce((worst, entry) => (entry[1] < worst[1] ? entry : worst))[0]
}

/** The middle of the range in which each component decreases, unless measured otherwise. */
const componentMin: QualityComponents = {
  sharpness: 40,
  brightness: 50,
  contrast: 40,
  exposure: 50,
  faceSize: 50,
  headPose: 50,
  eyesOpen: 50,
  mouthClosed: 50,
  occlusion: 50,
}

/** Returns which parts of a face are covered. */
export function findCovers({ leftEye, rightEye, lowerFace }: Occlusion) {
  return {
    areEyesCovered: Math.max(leftEye, rightEye) >= occlusionMin,
    isMouthCovered: lowerFace >= occlusionMin,
  }
}

const middleLuma = 128
const confidenceMin = 0.75
/** A probability. */
const occlusionMin = 0.5
const mouthOpenMin = 0.5
/** Two of the 36 points on the edge of the face. */
const cutShareMin = 0.05

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
