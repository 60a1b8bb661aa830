import type { z } from 'zod'
import type { Attempt } from '../../../gallery/liveness/session-attempts.ts'
import { imagesPerCallMax, sessionFrameBytesMax } from '../../../lib/limits/call-limits.ts'
import { ActionError, invalidRequest } from '../../../lib/errors.ts'
import { roundTo } from '../../../lib/round-to.ts'
import type { Tx } from '../../../store/database.ts'
import type { EncodedImage } from '../../../vision/image/input/encoded-image.ts'
import type { ImageAnalysis } from '../../../vision/image-analysis.ts'
import type { ChallengeJudgement } from '../../../vision/liveness/challenge/challenge-judgement.ts'
import type { ActionCall, ItemOutcomes } from '../../action.ts'
import type { challengeResult } from '../../schemas/challenge.ts'
import { livenessCallDecision } from '../call-decisions.ts'
import { classifyLiveness, type LivenessDecision, type LivenessFace } from '../classify-liveness.ts'
import { debugInfo, toFaceValue, toImageFacts } from '../response-fields.ts'
import { withLiveness, type FaceParams } from '../extract-probes.ts'
import { analyzeFrames, type AnalyzedFrames } from './analyze-frames.ts'
import { causeOfRejectedFrame, findCauses } from './failure-causes.ts'

type ChallengeParams = FaceParams & {
  readonly livenessSessionId: string
  readonly images: readonly (EncodedImage & { readonly correlationId?: string | undefined })[]
  /** By default the threshold of the liveness models. */
  readonly threshold?: number | undefined
}

type ChallengeCall = Pick<
  ActionCall<ChallengeParams>,
  'caller' | 'services' | 'signal' | 'params' | 'debug'
>

/**
 * Judges the frames of an attempt in a liveness session. The attempt is spent, and the reference frame
 * of a live person is stored, in the transaction that settles the call. A call that fails before its
 * frames were analyzed does not spend the attempt. A frame without exactly one face does, as a failure.
 *
 * @throws ActionError LIVENESS_SESSION_NOT_FOUND, RATE_LIMITED, INVALID_REQUEST for a wrong number of images,
 *   and the errors of an image that cannot be analyzed.
 */
export async function answerChallenge(call: ChallengeCall) {
  const { params, caller, services } = call
  const { livenessSessions } = services
  const attempt = await livenessSessions.findAttempt(caller.projectId, params.livenessSessionId)
  requireFrameCount(params.images.length, attempt)
  const frames = await analyzeFrames(call)
  const correlationId = params.images[0]?.correlationId
  if ('code' in frames)
    return {
      effect: async (tx: Tx): Promise<ItemOutcomes<never>> => {
        const { code } = frames
        const causes = [causeOfRejectedFrame(frames)]
        const result = { decision: 'uncertain', reasons: [code], causes } as const
        await livenessSessions.spendAttempt(tx, attempt, result)
        return [{ correlationId, error: frames }]
      },
    }
  const value = judgeFrames(call, frames, attempt)
  const outcome = { correlationId, value, decision: livenessCallDecision(value) }
  return {
    effect: async (tx: Tx) => {
      const { decision, reasons, challenge } = value
      const frame = value.live ? params.images[selectReference(frames)] : undefined
      const result = { decision, reasons, causes: challenge.causes, frame }
      await livenessSessions.spendAttempt(tx, attempt, result)
      return [outcome]
    },
  }
}

function requireFrameCount(count: number, { steps }: Attempt): void {
  const countMin = steps.length + 1
  if (count >= countMin) return
  throw invalidRequest(
    `params.images: an attempt with ${steps.length} steps takes ${countMin} to ${imagesPerCallMax} images, not ${count}`,
  )
}

/** @throws ActionError IMAGE_TOO_LARGE for a frame over `sessionFrameBytesMax`. */
export function requireSmallFrames(frames: readonly EncodedImage[]): void {
  const index = frames.findIndex(
    ({ bytes }) => Buffer.byteLength(bytes, 'base64') > sessionFrameBytesMax,
  )
  if (index >= 0)
    throw new ActionError(
      'IMAGE_TOO_LARGE',
      `params.images[${index}].bytes: a frame of a liveness session has at most ${sessionFrameBytesMax} bytes`,
    )
}

function judgeFrames(
  { params, services, debug }: ChallengeCall,
  { frontal, others }: AnalyzedFrames,
  { steps, angles }: Attempt,
) {
  const { matching, vision } = services
  const faces = [frontal, ...others].map((frame) => frame.face)
  const compare: Parameters<typeof vision.judgeChallenge>[2] = (a, b) =>
    matching.compare(a, b).similarity
  const judgement = vision.judgeChallenge(faces, steps, compare, angles)
  const { analysis } = frontal
  const face = withLiveness(frontal.face)
  const { threshold } = params
  const decision = decideChallenge(judgement, { face, analysis, threshold })
  const causes = decision.live ? [] : findCauses({ frontal, others }, judgement, decision.reasons)
  return {
    ...decision,
    face: toFaceValue(analysis, face, 0),
    faceCount: analysis.faceCount,
    image: toImageFacts(analysis),
    challenge: { ...toChallengeResult(judgement), causes },
    ...debugInfo(debug, analysis, face),
  }
}

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
function decideChallenge(
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

function toChallengeResult({
  passed,
  steps,
  samePerson,
  flat,
}: ReturnType<ChallengeCall['services']['vision']['judgeChallenge']>): Omit<
  z.input<typeof challengeResult>,
  'causes'
> {
  const rounded = (degrees: number | null) => degrees && roundTo(degrees, 1)
  const roundedSteps = steps.map(({ yaw, pitch, ...step }) => ({
    ...step,
    yaw: rounded(yaw),
    pitch: rounded(pitch),
  }))
  return { passed, steps: roundedSteps, samePerson, flat }
}

/** Degrees, change of yaw and of pitch against the first frame. */
const frontalChangeMax = 8

/** Returns the index of the frame with the highest quality among the frontal ones. */
function selectReference({ frontal, others }: AnalyzedFrames): number {
  const frames = [frontal, ...others].map(({ face, facts }, index) => {
    const yaw = Math.abs(facts.yaw - frontal.facts.yaw)
    const pitch = Math.abs(facts.pitch - frontal.facts.pitch)
    return { index, quality: face.qualityScore, isFrontal: Math.max(yaw, pitch) < frontalChangeMax }
  })
  const best = frames.reduce((a, b) => (b.isFrontal && b.quality > a.quality ? b : a))
  return best.index
}
