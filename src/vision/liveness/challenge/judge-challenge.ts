import { challengeLimits } from './challenge-limits.ts'
import type {
  ChallengeFrame,
  ChallengeJudgement,
  ChallengeReason,
  ChallengeStep,
} from './challenge-judgement.ts'
import { hasRepeatedPicture } from './face-fingerprint.ts'
import { judgeSteps, movementsOf, shownSteps } from './judge-steps.ts'
import { isFlat } from './relief.ts'

/**
 * Judges the frames of one response to a challenge, in the order in which they were recorded; the
 * first is frontal. Every check contributes its own reason, and none depends on the result of another.
 *
 * @throws RangeError if there are fewer frames than one more than steps.
 */
export function judgeChallenge(
  frames: readonly ChallengeFrame[],
  steps: readonly ChallengeStep[],
): ChallengeJudgement {
  const [first, ...others] = frames.map(({ facts }) => facts)
  if (!first || others.length < steps.length)
    throw new RangeError(`${steps.length} steps need ${steps.length + 1} frames or more`)
  const shown = shownSteps(first, others)
  const movements = movementsOf(first, others, shown)
  const { stepJudgements, isFollowed } = judgeSteps(first, movements, steps)
  const samePerson = frames.every(
    ({ similarityToFirst }) => similarityToFirst >= challengeLimits.similarityMin,
  )
  const flat = isFlat([first, ...others], movements)
  const checks: readonly (readonly [ChallengeReason, boolean])[] = [
    ['DIFFERENT_PERSON', !samePerson],
    ['CHALLENGE_NOT_FOLLOWED', !isFollowed],
    ['FLAT_FACE', flat],
    ['FRAMES_IDENTICAL', hasRepeatedPicture([first, ...others], [undefined, ...shown])],
  ]
  const reasons = checks.filter(([, applies]) => applies).map(([reason]) => reason)
  const changeMin = { turn: challengeLimits.turn.changeMin, look: challengeLimits.look.changeMin }
  const passed = reasons.length === 0
  return { passed, steps: stepJudgements, samePerson, flat, changeMin, reasons }
}
