import { roundTo } from '../../../lib/round-to.ts'
import { challengeLimits } from './challenge-limits.ts'
import type { ChallengeFacts, ChallengeStepJudgement } from './challenge-judgement.ts'
import {
  isTurn,
  type AngleRange,
  type ChallengeStep,
} from '../../../lib/liveness/challenge-steps.ts'

/** The step that a frame shows; undefined if the head is nearly as in the first frame. */
export type ShownStep = ChallengeStep | undefined

/** Returns the step that each frame shows, in comparison with the first frame. */
export function shownSteps(first: ChallengeFacts, others: readonly ChallengeFacts[]): ShownStep[] {
  return others.map((facts) => {
    const yaw = (facts.yaw - first.yaw) / challengeLimits.turn.changeMin
    const pitch = (facts.pitch - first.pitch) / challengeLimits.look.changeMin
    if (Math.max(Math.abs(yaw), Math.abs(pitch)) < 1) return undefined
    if (Math.abs(yaw) >= Math.abs(pitch)) return yaw > 0 ? 'turnLeft' : 'turnRight'
    return pitch > 0 ? 'lookUp' : 'lookDown'
  })
}

/**
 * Compares the movements of the head with the requested steps. They must be the same, in the same
 * order and no others: with ten frames that show every direction, any challenge would be passed.
 */
export function judgeSteps(
  first: ChallengeFacts,
  movements: readonly HeadMovement[],
  { steps, angles }: RequestedSteps,
): { readonly stepJudgements: ChallengeStepJudgement[]; readonly isFollowed: boolean } {
  const mismatch = steps.findIndex((step, index) => movements[index]?.step !== step)
  const matched = mismatch < 0 ? steps.length : mismatch
  const stepJudgements = steps.map((step, index) => {
    const movement = index < matched ? movements[index] : undefined
    if (!movement) return { step, passed: false, imageIndex: null, yaw: null, pitch: null }
    const { imageIndex, yaw, pitch } = movement
    const passed = isWithin(movement, angles[index])
    return { step, passed, imageIndex, yaw: roundTo(yaw, 1), pitch: roundTo(pitch, 1) }
  })
  const areAllPassed = stepJudgements.every(({ passed }) => passed)
  return {
    stepJudgements,
    isFollowed: areAllPassed && movements.length === steps.length && isFrontal(first),
  }
}

type RequestedSteps = {
  readonly steps: readonly ChallengeStep[]
  /** Of each step; empty: any angle from the limit of the step on. */
  readonly angles: readonly AngleRange[]
}

function isWithin(movement: HeadMovement, angle: AngleRange | undefined): boolean {
  const degrees = turnOf(movement)
  return angle === undefined || (degrees >= angle.degreesMin && degrees <= angle.degreesMax)
}

function isFrontal({ yaw, pitch }: ChallengeFacts): boolean {
  const { firstYawMax, firstPitchMax } = challengeLimits
  return Math.abs(yaw) <= firstYawMax && Math.abs(pitch) <= firstPitchMax
}

/** Consecutive frames that show one step, by the frame in which the head is turned furthest. */
export type HeadMovement = {
  readonly step: ChallengeStep
  /** Index of that frame among all frames; the first frame has index 0. */
  readonly imageIndex: number
  /** The indices of all its frames. */
  readonly imageIndices: readonly number[]
  /** Degrees: the change against the first frame. */
  readonly yaw: number
  readonly pitch: number
}

export function movementsOf(
  first: ChallengeFacts,
  others: readonly ChallengeFacts[],
  shown: readonly ShownStep[],
): HeadMovement[] {
  const movements: HeadMovement[] = []
  for (const [index, facts] of others.entries()) {
    const step = shown[index]
    if (step === undefined) continue
    const yaw = facts.yaw - first.yaw
    const pitch = facts.pitch - first.pitch
    const imageIndex = index + 1
    const movement = { step, imageIndex, imageIndices: [imageIndex], yaw, pitch }
    const last = movements.at(-1)
    if (last?.step !== step) {
      movements.push(movement)
      continue
    }
    const furthest = turnOf(movement) > turnOf(last) ? movement : last
    movements.splice(-1, 1, { ...furthest, imageIndices: [...last.imageIndices, imageIndex] })
  }
  return movements
}

function turnOf({ step, yaw, pitch }: HeadMovement): number {
  return Math.abs(isTurn(step) ? yaw : pitch)
}
