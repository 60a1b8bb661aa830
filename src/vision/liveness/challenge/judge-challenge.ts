import { challengeLimits } from './challenge-limits.ts'
import type {
  ChallengeFacts,
  ChallengeFrame,
  ChallengeJudgement,
  ChallengeReason,
  ChallengeStep,
  ChallengeStepJudgement,
} from './challenge.ts'

/** Judges the frames of one response to a challenge; see `JudgeChallenge`. */
export function judgeChallenge(
  frames: readonly ChallengeFrame[],
  steps: readonly ChallengeStep[],
): ChallengeJudgement {
  const [first] = frames
  if (!first || frames.length <= steps.length)
    throw new RangeError(`${steps.length} steps need ${steps.length + 1} frames or more`)
  const samePerson = frames.every(
    ({ similarityToFirst }) => similarityToFirst >= challengeLimits.similarityMin,
  )
  const stepJudgements = judgeSteps(frames, steps)
  const reasons: ChallengeReason[] = []
  if (!samePerson) reasons.push('DIFFERENT_PERSON')
  if (!stepJudgements.every(({ passed }) => passed)) reasons.push('CHALLENGE_NOT_FOLLOWED')
  return { passed: reasons.length === 0, steps: stepJudgements, samePerson, flat: false, reasons }
}

function judgeSteps(
  frames: readonly ChallengeFrame[],
  steps: readonly ChallengeStep[],
): ChallengeStepJudgement[] {
  const first = frames[0]?.facts
  let next = 1
  return steps.map((step) => {
    for (let index = next; first && index < frames.length; index++) {
      const facts = frames[index]?.facts
      if (!facts || shownStep(first, facts) !== step) continue
      next = index + 1
      const yaw = facts.yaw - first.yaw
      return { step, passed: true, imageIndex: index, yaw, pitch: facts.pitch - first.pitch }
    }
    next = frames.length
    return { step, passed: false, imageIndex: null, yaw: null, pitch: null }
  })
}

/** Returns the step that a frame shows; undefined if the head is nearly as in the first frame. */
function shownStep(first: ChallengeFacts, facts: ChallengeFacts): ChallengeStep | undefined {
  const yaw = (facts.yaw - first.yaw) / challengeLimits.yawChangeMin
  const pitch = (facts.pitch - first.pitch) / challengeLimits.pitchChangeMin
  if (Math.max(Math.abs(yaw), Math.abs(pitch)) < 1) return undefined
  if (Math.abs(yaw) >= Math.abs(pitch)) return yaw > 0 ? 'turnLeft' : 'turnRight'
  return pitch > 0 ? 'lookUp' : 'lookDown'
}
