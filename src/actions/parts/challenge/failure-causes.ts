import type { z } from 'zod'
import type { AttemptCause } from '../../../gallery/liveness/session-attempts.ts'
import type { ActionErrorCode, ActionProblem } from '../../../lib/errors.ts'
import { roundTo } from '../../../lib/round-to.ts'
import type { ImageSize } from '../../../vision/image/geometry.ts'
import type {
  ChallengeJudgement,
  ChallengeStepJudgement,
} from '../../../vision/liveness/challenge/challenge-judgement.ts'
import type { analyzedFace } from '../analyzed-face.ts'
import { findQualityReasons, touchesBorder, type QualityReason } from '../quality-reasons.ts'
import type { AnalyzedFrame, AnalyzedFrames } from './analyze-frames.ts'
import type { FailureCause } from '../../schemas/challenge.ts'
import {
  challengeSteps,
  isTurn,
  type AngleRange,
  type ChallengeStep,
} from '../../../lib/liveness/challenge-steps.ts'

type Cause = AttemptCause & { readonly cause: FailureCause }

/** The share of the shorter side of the picture that a face should have. */
const faceShareMin = 0.12
const faceShareMax = 0.85

/** Returns one cause for each step of an attempt that was not passed. */
export function findCauses(
  { frontal, others }: AnalyzedFrames,
  judgement: ChallengeJudgement,
  reasons: readonly string[],
): Cause[] {
  if (!judgement.samePerson) return [{ step: null, cause: 'ANOTHER_PERSON' }]
  const frames: readonly AnalyzedFrame[] = [frontal, ...others]
  let from = 1
  const ofSteps = judgement.steps.flatMap((step, index): Cause[] => {
    const limits = { changeMin: judgement.changeMin, angle: judgement.angles[index] }
    if (step.imageIndex === null)
      return [causeOfStep(step, limits, frames.slice(0, 1).concat(frames.slice(from)))]
    from = step.imageIndex + 1
    return step.passed ? [] : causeOfAngle(step, limits)
  })
  if (ofSteps.length > 0) return ofSteps
  const ofFrontal = causeOfFrame(frontal)
  if (reasons.some((reason) => reason === 'FLAT_FACE' || reason === 'FRAMES_IDENTICAL'))
    return [{ step: null, cause: 'PICTURE_OF_PICTURE' }]
  // All steps were shown: the head moved in between, or the frontal frame has a defect.
  return [{ step: null, cause: ofFrontal ?? 'WRONG_DIRECTION' }]
}

/** A step that was shown by another angle than the requested one. */
function causeOfAngle(
  { step, yaw, pitch }: ChallengeStepJudgement,
  { angle }: StepLimits,
): Cause[] {
  if (!angle) return []
  const degrees = Math.abs((isTurn(step) ? yaw : pitch) ?? 0)
  const { degreesMin, degreesMax } = angle
  return degrees < degreesMin
    ? [{ step, cause: 'MOVED_TOO_LITTLE', degrees, degreesMin }]
    : [{ step, cause: 'MOVED_TOO_FAR', degrees, degreesMax }]
}

type StepLimits = Pick<ChallengeJudgement, 'changeMin'> & { readonly angle: AngleRange | undefined }

/** The movement of each frame after the last passed step, and what prevents that it is seen. */
function causeOfStep(
  { step }: ChallengeStepJudgement,
  { changeMin, angle }: StepLimits,
  frames: readonly AnalyzedFrame[],
): Cause {
  const [first, ...candidates] = frames
  if (!first) throw new Error('a challenge has no frontal frame')
  const moved = (frame: AnalyzedFrame, along: ChallengeStep): number => {
    const { axis, sign } = directions[along]
    return sign * (frame.facts[axis] - first.facts[axis])
  }
  const best = candidates.reduce((a, b) => (moved(b, step) > moved(a, step) ? b : a), first)
  const degrees = Math.max(0, moved(best, step))
  const degreesMin = angle?.degreesMin ?? limitOf(step, changeMin)
  const isOtherDirection = challengeSteps.some(
    (other) =>
      other !== step &&
      candidates.some((frame) => moved(frame, other) >= limitOf(other, changeMin)),
  )
  const ofPicture = candidates.map(causeOfFrame).find((cause) => cause !== undefined)
  if (ofPicture) return { step, cause: ofPicture }
  if (degrees < degreesMin && !isOtherDirection)
    return { step, cause: 'MOVED_TOO_LITTLE', degrees: roundTo(degrees, 1), degreesMin }
  return { step, cause: 'WRONG_DIRECTION' }
}

const directions = {
  turnLeft: { axis: 'yaw', sign: 1 },
  turnRight: { axis: 'yaw', sign: -1 },
  lookUp: { axis: 'pitch', sign: 1 },
  lookDown: { axis: 'pitch', sign: -1 },
} as const

function limitOf(step: ChallengeStep, { turn, look }: ChallengeJudgement['changeMin']): number {
  return isTurn(step) ? turn : look
}

function causeOfFrame({ face, analysis }: AnalyzedFrame): FailureCause | undefined {
  return causeOfPicture({ ...face, reasons: findQualityReasons(face, analysis) }, analysis)
}

type AnalyzedFace = Pick<z.output<typeof analyzedFace>, 'boundingBox' | 'reasons'>

/** Returns the defect of a frame that the person can correct. */
function causeOfPicture(face: AnalyzedFace, image: ImageSize): FailureCause | undefined {
  const { width, height } = face.boundingBox
  const share = Math.min(width, height) / Math.min(image.width, image.height)
  if (touchesBorder(face, image)) return share > faceShareMax ? 'TOO_NEAR' : 'LEFT_PICTURE'
  if (share > faceShareMax) return 'TOO_NEAR'
  if (share < faceShareMin) return 'TOO_FAR'
  return causeOfQuality(face.reasons)
}

type CheckedFrame = { readonly image: ImageSize; readonly faces: readonly AnalyzedFace[] }

/** Returns what a person can correct in a frame that svc.analyze has checked, or refused with `error`. */
export function guidanceCauses(value: CheckedFrame | undefined, error: ActionProblem | undefined) {
  if (!value) return error?.code === 'MULTIPLE_FACES' ? [causeOfRejectedFrame(error)] : []
  const [face] = value.faces
  const cause = face ? causeOfPicture(face, value.image) : 'NO_FACE'
  return cause ? [{ step: null, cause }] : []
}

function causeOfQuality(reasons: readonly string[]): FailureCause | undefined {
  return qualityCauses.find(([reason]) => reasons.includes(reason))?.[1]
}

/** In the order in which a person should correct them. */
const qualityCauses: readonly (readonly [QualityReason, FailureCause])[] = [
  ['FACE_TOO_SMALL', 'TOO_FAR'],
  ['FACE_CUT_OFF', 'LEFT_PICTURE'],
  ['FACE_OCCLUDED', 'COVERED'],
  ['LOW_BRIGHTNESS', 'TOO_DARK'],
  ['HIGH_BRIGHTNESS', 'TOO_BRIGHT'],
  ['LOW_SHARPNESS', 'TOO_FAST'],
]

/** Returns the cause of an attempt with a frame that does not show exactly one usable face. */
export function causeOfRejectedFrame({ code, imageIndex, message }: ActionProblem): Cause {
  const causes: Partial<Record<ActionErrorCode, FailureCause>> = {
    NO_FACE_FOUND: imageIndex === 0 ? 'NO_FACE' : 'LEFT_PICTURE',
    FACE_TOO_SMALL: 'TOO_FAR',
    MULTIPLE_FACES: 'ANOTHER_PERSON',
    // The message lists the reasons.
    LOW_QUALITY: causeOfQuality(message.split(/[^A-Z_]+/u)) ?? 'TOO_FAST',
  }
  return { step: null, cause: causes[code] ?? 'NO_FACE' }
}
