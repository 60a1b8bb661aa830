import type { ChallengeJudgement } from '../../../vision/liveness/challenge/challenge-judgement.ts'
import type { ImageAnalysis } from '../../../vision/image-analysis.ts'
import { classifyLiveness, type LivenessDecision, type LivenessFace } from '../classify-liveness.ts'

type FrontalFrame = {
  readonly face: LivenessFace
  readonly analysis: ImageAnalysis
  /** Of the request. */
  readonly threshold: number | undefined
}

/**
 * Decides by a challenge whether a person is live.
 *
 * A challenge that failed is never live: a flat face is a spoof, all other failures are uncertain.
 * After a passed challenge the frontal frame must have the quality for a decision, and installed
 * passive networks must not report a spoof. A passive score without a decision does not stand against
 * a passed challenge, and the built-in network alone is too weak to contradict it.
 */
export function decideChallenge(
  judgement: ChallengeJudgement,
  { face, analysis, threshold }: FrontalFrame,
): LivenessDecision {
  // `analyzeFrames` has rejected frames with several faces.
  const rules = { threshold, requireSingleFace: false }
  const passive = classifyLiveness(face, analysis, rules)
  const decide = (
    decision: LivenessDecision['decision'],
    reasons: LivenessDecision['reasons'],
  ): LivenessDecision => ({ ...passive, decision, live: decision === 'live', reasons })
  if (!judgement.passed)
    return decide(judgement.flat ? 'spoof' : 'uncertain', [...judgement.reasons])
  // With the best score, only the quality of the frame prevents a decision.
  const best = { ...face, liveness: { ...face.liveness, score: 1 } }
  const { live, reasons } = classifyLiveness(best, analysis, { ...rules, threshold: undefined })
  if (!live) return decide('uncertain', reasons)
  if (passive.decision === 'spoof' && !face.liveness.isBuiltin) return decide('spoof', [])
  return decide('live', [])
}
