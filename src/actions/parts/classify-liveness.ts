import type { LivenessResult, FaceResult, ImageAnalysis } from '../../vision/image-analysis.ts'

export const livenessReasons = [
  'FACE_TOO_SMALL',
  'FACE_TOO_CLOSE_TO_EDGE',
  'EXTREME_POSE',
  'LOW_QUALITY',
  'MULTIPLE_FACES',
] as const

export type LivenessReason = (typeof livenessReasons)[number]

export type LivenessDecision = {
  readonly decision: 'live' | 'spoof' | 'uncertain'
  /** Only for the decision `live`. */
  readonly live: boolean
  /** 0..1. */
  readonly score: number
  /** The score from which the face is live. */
  readonly threshold: number
  /** Why it is uncertain; besides a spoof, that there are several faces. */
  readonly reasons: readonly LivenessReason[]
}

/** A face that the liveness networks looked at. */
export type LivenessFace = FaceResult & { readonly liveness: LivenessResult }

type LivenessRules = {
  /** Without it, the networks' own. */
  readonly threshold: number | undefined
  /** Whether it counts that others are in the picture. */
  readonly requireSingleFace: boolean
}

/**
 * Decides whether a face is live, a spoof, or neither for sure.
 *
 * What undermines the judgement makes it uncertain, whatever the score: a face that is small, cut
 * off or without the surroundings in which a screen's or a print's edges lie, turned away, blurred
 * or grey. A score between the thresholds is uncertain for LOW_QUALITY: the picture's quality, or
 * what it shows, does not suffice. Several faces only stand against `live`: it is not known whose
 * call it is, but who shows a spoof shows a spoof.
 *
 * A threshold of the caller's moves the border of `live`; that of `spoof` stays where it is, below it.
 */
export function classifyLiveness(
  face: LivenessFace,
  view: Pick<ImageAnalysis, 'width' | 'height' | 'faceCount'>,
  { threshold, requireSingleFace: alone }: LivenessRules,
): LivenessDecision {
  const { score, liveMin, spoofMax } = face.liveness
  const border = threshold ?? liveMin
  const against = uncertaintyReasons(face, view)
  const others: LivenessReason[] = alone && view.faceCount > 1 ? ['MULTIPLE_FACES'] : []
  const judged = (decision: LivenessDecision['decision'], reasons: readonly LivenessReason[]) => ({
    decision,
    live: decision === 'live',
    score,
    threshold: border,
    reasons,
  })
  if (against.length > 0) return judged('uncertain', [...against, ...others])
  if (score < Math.min(spoofMax, border)) return judged('spoof', others)
  if (score < border) return judged('uncertain', ['LOW_QUALITY', ...others])
  return judged(others.length > 0 ? 'uncertain' : 'live', others)
}

/** What stands against any judgement. */
function uncertaintyReasons(
  { boundingBox, pose, qualityScore, liveness }: LivenessFace,
  { width, height }: Pick<ImageAnalysis, 'width' | 'height'>,
): LivenessReason[] {
  const { left, top } = boundingBox
  const isCut =
    left <= 0 || top <= 0 || left + boundingBox.width >= width || top + boundingBox.height >= height
  const reasons: readonly (readonly [LivenessReason, boolean])[] = [
    ['FACE_TOO_SMALL', Math.min(boundingBox.width, boundingBox.height) < faceSideMinPx],
    ['FACE_TOO_CLOSE_TO_EDGE', isCut || !liveness.hasContext],
    ['EXTREME_POSE', Math.max(Math.abs(pose.yaw), Math.abs(pose.pitch)) > offAxisMaxDegrees],
    ['LOW_QUALITY', qualityScore < qualityMin || !liveness.hasColour],
  ]
  return reasons.filter(([, holds]) => holds).map(([reason]) => reason)
}

/** Below it live faces are taken for spoofs more often: see docs/liveness.md. */
const faceSideMinPx = 64

/** As quality begins to fall with the pose. */
const offAxisMaxDegrees = 35

/** What enrolment asks for. */
const qualityMin = 40
