import type { QualityComponents } from '../../vision/quality/face-quality.ts'
import type { FaceResult, ImageAnalysis } from '../../vision/image-analysis.ts'

/** What may be wrong with a face, in the order in which it is told. */
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

/** Of the upright picture, px. */
type ImageDimensions = Pick<ImageAnalysis, 'width' | 'height'>

/** What stands out about one face; what is wrong with the picture, MULTIPLE_FACES, is not its. */
export function findQualityReasons(face: FaceResult, picture: ImageDimensions): QualityReason[] {
  const { quality, confidence } = face
  const { components, luma, openness, occlusion, cutShare } = quality
  const isLow = (name: keyof QualityComponents): boolean => components[name] < componentMin[name]
  const eyesCovered = Math.max(occlusion.leftEye, occlusion.rightEye) >= occlusionMin
  const mouthCovered = occlusion.lowerFace >= occlusionMin
  const isBadlyLit = isLow('brightness') || isLow('exposure')
  const holds: Readonly<Record<QualityReason, boolean>> = {
    EXTREME_POSE: isLow('headPose'),
    LOW_BRIGHTNESS: isBadlyLit && luma < middleLuma,
    HIGH_BRIGHTNESS: isBadlyLit && luma >= middleLuma,
    LOW_SHARPNESS: isLow('sharpness'),
    LOW_CONTRAST: isLow('contrast'),
    LOW_CONFIDENCE: confidence < confidenceMin,
    FACE_TOO_SMALL: isLow('faceSize'),
    FACE_CUT_OFF: cutShare >= cutShareMin || touchesBorder(face, picture),
    FACE_OCCLUDED: eyesCovered || mouthCovered,
    // What is covered is neither open nor shut.
    EYES_CLOSED: !eyesCovered && isLow('eyesOpen'),
    MOUTH_OPEN: !mouthCovered && openness.mouth > mouthOpenMin,
    MULTIPLE_FACES: false,
  }
  return qualityReasons.filter((reason) => holds[reason])
}

/** The reasons of a face whose score is too low: at least one, if need be its weakest side. */
export function lowScoreReasons(face: FaceResult, picture: ImageDimensions): QualityReason[] {
  const reasons = findQualityReasons(face, picture).filter(
    (reason) => !reportOnlyReasons.has(reason),
  )
  return reasons.length > 0 ? reasons : [weakestComponentReason(face)]
}

/** The mesh squeezes itself into what is left of a face: then its box ends with the picture. */
function touchesBorder({ boundingBox }: FaceResult, picture: ImageDimensions): boolean {
  const { left, top, width, height } = boundingBox
  return left <= 0 || top <= 0 || left + width >= picture.width || top + height >= picture.height
}

/** Told, but no part of the score. */
const reportOnlyReasons: ReadonlySet<QualityReason> = new Set(['EYES_CLOSED', 'MOUTH_OPEN'])

function weakestComponentReason({
  quality: { components, luma },
  confidence,
}: FaceResult): QualityReason {
  const tooDark = luma < middleLuma ? 'LOW_BRIGHTNESS' : 'HIGH_BRIGHTNESS'
  const sides: readonly (readonly [QualityReason, number])[] = [
    ['LOW_SHARPNESS', components.sharpness],
    ['LOW_CONTRAST', components.contrast],
    ['FACE_TOO_SMALL', components.faceSize],
    ['EXTREME_POSE', components.headPose],
    [tooDark, Math.min(components.brightness, components.exposure)],
    ['FACE_OCCLUDED', components.occlusion],
    ['LOW_CONFIDENCE', 100 * confidence],
  ]
  return sides.reduce((worst, side) => (side[1] < worst[1] ? side : worst))[0]
}

/** Half-way down each component's ramp, where nothing else is said. */
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

const middleLuma = 128
const confidenceMin = 0.75
/** A probability. */
const occlusionMin = 0.5
const mouthOpenMin = 0.5
/** Two of the 36 points on the edge of the face. */
const cutShareMin = 0.05
