import { challengeLimits } from './challenge-limits.ts'
import type { ChallengeFrame, ChallengeJudgement, ChallengeReason } from './challenge-judgement.ts'
import { hasRepeatedPicture } from './face-fingerprint.ts'
import { judgeSteps, movementsOf, shownSteps } from './judge-steps.ts'
import { isFlat } from './relief.ts'
import type { AngleRange, ChallengeStep } from '../../../lib/liveness/challenge-steps.ts'

/**
 * Judges the frames of one response to a challenge, in the order in which they were recorded; the
 * first is frontal. Every check contributes its own reason, and none depends on the result of another.
 *
 * @param angles the requested angle of each step; empty: any from the limit of the step on.
 * @throws RangeError if there are fewer frames than one more than steps.
 */
export function judgeChallenge(
  frames: readonly ChallengeFrame[],
  steps: readonly ChallengeStep[],
  angles: readonly AngleRange[] = [],
): ChallengeJudgement {
  const [first, ...others] = frames.map(({ facts }) => facts)
  if (!first || others.length < steps.length)
    throw new RangeError(`${steps.length} steps need ${steps.length + 1} frames or more`)
  const shown = shownSteps(first, others)
  const movements = movementsOf(first, others, shown)
  const { stepJudgements, isFollowed } = judgeSteps(first, movements, { steps, angles })
  const samePerson = isOnePerson(frames)
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
  return { passed, steps: stepJudgements, samePerson, flat, angles, changeMin, reasons }
}

/**
 * Whether each frame shows the person of the first. A turned face differs more from the frontal one
 * than from its neighbour, so a frame that is a little less similar to the first is accepted if it is
 * similar to the frame before it or after it, and that one to the first.
 */
function isOnePerson(frames: readonly ChallengeFrame[]): boolean {
  const { similarityMin, linkedSimilarityMin } = challengeLimits
  const isSimilar = (index: number) => (frames[index]?.similarityToFirst ?? 0) >= similarityMin
  const isLinked = (index: number) => (frames[index]?.similarityToPrevious ?? 0) >= similarityMin
  return frames.every(
    ({ similarityToFirst }, index) =>
      isSimilar(index) ||
      (similarityToFirst >= linkedSimilarityMin &&
        ((isLinked(index) && isSimilar(index - 1)) ||
          (isLinked(index + 1) && isSimilar(index + 1)))),
  )
}
