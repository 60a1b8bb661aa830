import {
  angleRanges,
  challengeSteps,
  isTurn,
  type AngleRange,
  type ChallengeStep,
} from '../../lib/liveness/challenge-steps.ts'

/** Returns a random integer from 0 to `limit - 1`, each with the same probability. */
export type RandomInteger = (limit: number) => number

/**
 * Draws the steps of a challenge: never the same twice in a row, and at least one turn to a side. All
 * sequences that follow these rules have the same probability, because the others are drawn again.
 */
export function drawSteps(count: number, randomInteger: RandomInteger): ChallengeStep[] {
  for (;;) {
    const steps: ChallengeStep[] = []
    while (steps.length < count) {
      const choices = challengeSteps.filter((step) => step !== steps.at(-1))
      const step = choices[randomInteger(choices.length)]
      if (!step) throw new RangeError('the random number is out of its range')
      steps.push(step)
    }
    // A turn to a side is the step that a flat picture cannot show.
    if (steps.some(isTurn)) return steps
  }
}

/**
 * Draws the angle of each step. A direction that is requested again gets another angle, so that two
 * frames of a head do not look alike, and one picture of each direction is not sufficient.
 */
export function drawAngles(
  steps: readonly ChallengeStep[],
  randomInteger: RandomInteger,
): AngleRange[] {
  const angles: AngleRange[] = []
  for (const step of steps) {
    const choices = angleRanges[isTurn(step) ? 'turn' : 'look'].filter(
      (range) => !angles.some((angle, index) => angle === range && steps[index] === step),
    )
    const range = choices[randomInteger(choices.length)]
    if (!range) throw new RangeError('the random number is out of its range')
    angles.push(range)
  }
  return angles
}
