import type { z } from 'zod'
import type { Challenge } from '../../../gallery/challenges/challenges.ts'
import type { Matching } from '../../../gallery/matching.ts'
import { imagesPerCallMax } from '../../../lib/limits/call-limits.ts'
import { ActionError } from '../../../lib/errors.ts'
import { roundTo } from '../../../lib/round-to.ts'
import type { Tx } from '../../../store/tx.ts'
import type { EncodedImage } from '../../../vision/image/input/encoded-image.ts'
import type { ActionCall, ItemOutcomes } from '../../action.ts'
import type { challengeResult } from '../../schemas/challenge.ts'
import { livenessCallDecision } from '../call-decisions.ts'
import { debugInfo, toFaceValue, toImageFacts } from '../response-fields.ts'
import { withLiveness, type FaceParams } from '../extract-probes.ts'
import {
  analyzeFrames,
  type AnalyzedFrame,
  type AnalyzedFrames,
  type ReferenceFrame,
} from './analyze-frames.ts'
import { decideChallenge } from './decide-challenge.ts'

type ChallengeParams = FaceParams & {
  readonly challengeId: string
  readonly images: readonly (EncodedImage & { readonly correlationId?: string | undefined })[]
  /** By default the threshold of the liveness models. */
  readonly threshold?: number | undefined
}

type ChallengeCall = Pick<
  ActionCall<ChallengeParams>,
  'caller' | 'services' | 'signal' | 'params' | 'debug'
>

/**
 * Judges the frames of a response to a challenge. The challenge is spent, and a token is created for a
 * live person, in the transaction that settles the call. A call that fails before its frames were
 * analyzed does not spend the challenge. A frame without exactly one face does, as a failure.
 *
 * @throws ActionError CHALLENGE_NOT_FOUND, RATE_LIMITED, INVALID_REQUEST for a wrong number of images,
 *   and the errors of an image that cannot be analyzed.
 */
export async function answerChallenge(call: ChallengeCall) {
  const { params, caller, services } = call
  const { challenges } = services
  const challenge = await challenges.find(caller.projectId, params.challengeId)
  requireFrameCount(params.images.length, challenge)
  const frames = await analyzeFrames(call)
  const correlationId = params.images[0]?.correlationId
  if ('code' in frames)
    return {
      effect: async (tx: Tx): Promise<ItemOutcomes<never>> => {
        await challenges.spend(tx, challenge, false)
        return [{ correlationId, error: frames }]
      },
    }
  const value = judgeFrames(call, frames, challenge)
  const outcome = { correlationId, value, decision: livenessCallDecision(value) }
  return {
    effect: async (tx: Tx) => {
      await challenges.spend(tx, challenge, value.live)
      if (!value.live) return [outcome]
      const livenessToken = await challenges.tokens.issue(tx, caller, frames.frontal.template)
      return [{ ...outcome, value: { ...value, livenessToken } }]
    },
  }
}

function requireFrameCount(count: number, { steps }: Challenge): void {
  const countMin = steps.length + 1
  if (count >= countMin) return
  throw new ActionError(
    'INVALID_REQUEST',
    `params.images: a challenge of ${steps.length} steps takes ${countMin} to ${imagesPerCallMax} images, not ${count}`,
  )
}

function judgeFrames(
  { params, services, debug }: ChallengeCall,
  { frontal, others }: AnalyzedFrames,
  { steps }: Challenge,
) {
  const { matching, vision } = services
  const compared = others.map((frame) => ({
    facts: frame.facts,
    similarityToFirst: similarityToFrontal(frame, frontal, matching),
  }))
  const first = { facts: frontal.facts, similarityToFirst: 1 }
  const judgement = vision.judgeChallenge([first, ...compared], steps)
  const { analysis } = frontal
  const face = withLiveness(frontal.face)
  const { threshold } = params
  return {
    ...decideChallenge(judgement, { face, analysis, threshold }),
    face: toFaceValue(analysis, face, 0),
    faceCount: analysis.faceCount,
    image: toImageFacts(analysis),
    challenge: toChallengeResult(judgement),
    ...debugInfo(debug, analysis, face),
  }
}

function similarityToFrontal(
  { face: { certainSimilarity, template } }: AnalyzedFrame,
  frontal: ReferenceFrame,
  matching: Pick<Matching, 'compare'>,
): number {
  if (certainSimilarity !== undefined) return certainSimilarity
  if (!template) throw new Error('the analysis contains no template')
  return matching.compare(template, frontal.template).similarity
}

function toChallengeResult({
  passed,
  steps,
  samePerson,
  flat,
}: ReturnType<ChallengeCall['services']['vision']['judgeChallenge']>): z.input<
  typeof challengeResult
> {
  const rounded = (degrees: number | null) => degrees && roundTo(degrees, 1)
  const roundedSteps = steps.map(({ yaw, pitch, ...step }) => ({
    ...step,
    yaw: rounded(yaw),
    pitch: rounded(pitch),
  }))
  return { passed, steps: roundedSteps, samePerson, flat }
}
