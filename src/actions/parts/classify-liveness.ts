import type { z } from 'zod'
import type { FaceResult, ImageAnalysis } from '../../vision/image-analysis.ts'
import type { LivenessResult } from '../../vision/liveness/liveness-result.ts'
import type { livenessDecision, livenessReasons } from '../schemas/liveness.ts'
import { enrollmentMinima, touchesBorder } from './quality-reasons.ts'
import { isOnlyMainFace } from './main-faces.ts'

export type LivenessDecision = z.output<typeof livenessDecision>
type LivenessReason = (typeof livenessReasons)[number]

/** A face with the result of the liveness models. */
export type LivenessFace = FaceResult & { readonly liveness: LivenessResult }

type LivenessRules = {
  /** By default the threshold of the liveness models. */
  readonly threshold: number | undefined
  /** Whether another main face in the image makes the decision uncertain. */
  readonly requireSingleFace: boolean
}

/**
 * Decides whether a face is live or a spoof, or whether the decision is uncertain.
 *
 * These conditions make the decision uncertain, whatever the score: the face is small, cut off,
 * turned away, blurred or grey, or the image does not contain the surroundings that would show the
 * edges of a screen or a print. A score between the two thresholds is uncertain with INCONCLUSIVE.
 * Several main faces prevent only `live`, because it is unclear which person made the call; a spoof
 * remains a spoof.
 *
 * A threshold of the request moves the limit of `live`. The limit of `spoof` stays where it is, but
 * never above that threshold.
 */
export function classifyLiveness(
  face: LivenessFace,
  analysis: Pick<ImageAnalysis, 'width' | 'height' | 'faceSidesPx'>,
  rules: LivenessRules,
): LivenessDecision {
  const { score, liveMin, spoofMax } = face.liveness
  const threshold = rules.threshold ?? liveMin
  const uncertainty = uncertaintyReasons(face, analysis)
  const otherFaces: LivenessReason[] =
    rules.requireSingleFace && !isOnlyMainFace(face, analysis.faceSidesPx) ? ['MULTIPLE_FACES'] : []
  const decide = (
    decision: LivenessDecision['decision'],
    reasons: LivenessReason[],
  ): LivenessDecision => ({ decision, live: decision === 'live', score, threshold, reasons })
  if (uncertainty.length > 0) return decide('uncertain', [...uncertainty, ...otherFaces])
  if (score < Math.min(spoofMax, threshold)) return decide('spoof', otherFaces)
  if (score < threshold) return decide('uncertain', ['INCONCLUSIVE', ...otherFaces])
  return decide(otherFaces.length > 0 ? 'uncertain' : 'live', otherFaces)
}

/** Returns the conditions that make any decision uncertain. */
function uncertaintyReasons(face: LivenessFace, image: Pick<ImageAnalysis, 'width' | 'height'>) {
  const { boundingBox, pose, qualityScore, liveness } = face
  const reasons: readonly (readonly [LivenessReason, boolean])[] = [
    ['FACE_TOO_SMALL', Math.min(boundingBox.width, boundingBox.height) < faceSideMinPx],
    ['FACE_TOO_CLOSE_TO_EDGE', touchesBorder(face, image) || !liveness.hasContext],
    ['EXTREME_POSE', Math.max(Math.abs(pose.yaw), Math.abs(pose.pitch)) > offAxisMaxDegrees],
    ['LOW_QUALITY', qualityScore < enrollmentMinima.minQuality || !liveness.hasColour],
  ]
  return reasons.filter(([, applies]) => applies).map(([reason]) => reason)
}

/** Smaller live faces are classified as spoofs more often: see docs/liveness.md. */
const faceSideMinPx = 64

/** From this angle on, the quality score decreases with the pose. */
const offAxisMaxDegrees = 35
