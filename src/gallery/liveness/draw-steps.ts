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
 * Draws the angle of each step. The ranges of a direction that is requested again are not adjacent, so
 * that two frames of a head do not look alike, and one picture of each direction is not sufficient. All
 * angles that follow this rule have the same probability, because the others are drawn again.
 */
export function drawAngles(
  steps: readonly ChallengeStep[],
  randomInteger: RandomInteger,
): AngleRange[] {
  for (;;) {
    const angles = steps.map((step) => {
      const ranges = angleRanges[isTurn(step) ? 'turn' : 'look']
      const range = ranges[randomInteger(ranges.length)]
      if (!range) throw new RangeError('the random number is out of its range')
      return range
    })
    const touches = (one: AngleRange, other: AngleRange) =>
      one.degreesMin <= other.degreesMax && other.degreesMin <= one.degreesMax
    const isRepeated = (angle: AngleRange, index: number) =>
      angles.some((one, at) => at < index && steps[at] === steps[index] && touches(one, angle))
    if (!angles.some(isRepeated)) return angles
  }
}
